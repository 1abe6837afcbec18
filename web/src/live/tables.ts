// The tables of a run.

import { make } from "./page";
import type { EndedRow, GroupRow, LogLine, Progress, State, Table } from "./run";
import { type Column, LiveTable } from "./table";
import { type Zone, moment, share, stretch, time, whole } from "./text";

type Count = [string | number, number];

/** Lines of the log that are shown. */
const LINES_MAX = 300;

export class Tables {
  readonly place = make("div", "tables");
  private readonly groups = grouped("By name or target");
  private readonly byTag = new Map<string, LiveTable<GroupRow>>();
  private readonly tags = make("div", "");
  private readonly ended = new LiveTable<EndedRow>("Runs of this command", [
    { name: "Run", value: (row) => row[0], wraps: true },
    counts("Requests", (row: EndedRow) => row[1]),
    counts("Failed", (row: EndedRow) => row[2]),
    { name: "Took", value: (row) => row[3], text: (row) => stretch(row[3]) },
    times("p50", (row: EndedRow) => row[4][1] ?? 0),
    times("p99", (row: EndedRow) => row[4][4] ?? 0),
    { name: "Verdict", value: (row) => (row[5] ? "VALID" : "INVALID") },
  ]);
  private readonly statuses = counted("Status codes", "Status");
  private readonly failures = counted("Failures by kind", "Kind");
  private readonly errors = counted("Errors", "Error");
  private readonly marks = new LiveTable<[string, string]>("Marks", [
    { name: "When", value: (row) => row[0] },
    { name: "What", value: (row) => row[1], wraps: true },
  ]);
  private readonly log = new LiveTable<[string, string]>("Log", [
    { name: "When", value: (row) => row[0] },
    { name: "What", value: (row) => row[1], wraps: true },
  ]);
  private lines: LogLine[] = [];
  private readonly added = new Map<string, LiveTable<(string | number)[]>>();
  private readonly more = make("div", "");
  private readonly server = make("div", "");

  constructor() {
    const small = make("div", "pair", this.statuses.place, this.failures.place);
    this.place.append(this.more, this.tags, this.groups.place, this.ended.place, small, this.errors.place, this.marks.place);
    this.place.append(this.server, this.log.place);
  }

  set(state: State, began: number, zone: Zone): void {
    this.groups.set(state.groups, hidden(state.groupsMore, "more names"));
    for (const [title, rows] of state.byTag) this.tagTable(title).set(rows);
    this.statuses.set(state.statuses.map(([status, count]): Count => [status || "no answer", count]));
    this.failures.set(state.failures);
    this.errors.set(state.errors, hidden(state.errorsMore, "errors with further texts"));
    this.marks.set(state.marks.map(([at, text]) => [moment(at, began, zone), text]));
    state.server?.tables.forEach((table) => this.addedTable(table, this.server).set(table.rows));
    this.setMore(state, began, zone);
  }

  /** Shows what the command adds, and the log. */
  setMore(state: Progress, began: number, zone: Zone): void {
    state.more?.tables?.forEach((table) => this.addedTable(table, this.more).set(table.rows));
    // The newest line comes first.
    this.log.set(this.lines.map(([at, text]): [string, string] => [moment((at - began) / 1000, began, zone), text]).reverse());
  }

  /** Adds lines to the log. */
  addLog(lines: LogLine[]): void {
    this.lines = this.lines.concat(lines).slice(-LINES_MAX);
  }

  /** The log from its begin. */
  setLog(lines: LogLine[]): void {
    this.lines = lines;
  }

  setEnded(rows: EndedRow[]): void {
    // One run is what the page shows anyway.
    this.ended.set(rows.length > 1 ? rows : []);
  }

  private tagTable(title: string): LiveTable<GroupRow> {
    const known = this.byTag.get(title);
    if (known) return known;
    const made = grouped(title);
    this.byTag.set(title, made);
    this.tags.append(made.place);
    return made;
  }

  private addedTable(table: Table, place: HTMLElement): LiveTable<(string | number)[]> {
    const known = this.added.get(table.title);
    if (known) return known;
    const columns = table.columns.map((name, at): Column<(string | number)[]> => {
      const value = (row: (string | number)[]) => row[at] ?? "";
      const text = (row: (string | number)[]) => {
        const cell = value(row);
        return typeof cell === "number" ? whole(cell) : cell;
      };
      return { name, value, text, wraps: at === 0 };
    });
    const made = new LiveTable<(string | number)[]>(table.title, columns);
    this.added.set(table.title, made);
    place.append(made.place);
    return made;
  }
}

function counts<R>(name: string, value: (row: R) => number): Column<R> {
  return { name, value, text: (row) => whole(value(row)) };
}

function times<R>(name: string, value: (row: R) => number): Column<R> {
  return { name, value, text: (row) => time(value(row)) };
}

function grouped(title: string): LiveTable<GroupRow> {
  return new LiveTable<GroupRow>(title, [
    { name: "Name", value: (row) => row[0], wraps: true },
    counts("Requests", (row: GroupRow) => row[1]),
    { ...counts("Failed", (row: GroupRow) => row[2]), text: (row) => `${whole(row[2])} (${share(row[2], row[1])})` },
    ...["Mean", "p50", "p95", "p99", "Max"].map((name, at) => times(name, (row: GroupRow) => row[at + 3] as number)),
  ]);
}

function counted(title: string, what: string): LiveTable<Count> {
  return new LiveTable<Count>(title, [
    { name: what, value: (row) => row[0], wraps: true },
    counts("Requests", (row: Count) => row[1]),
  ]);
}

function hidden(count: number, what: string): string {
  return count > 0 ? `and ${whole(count)} ${what}` : "";
}
