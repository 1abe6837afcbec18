// A table whose columns sort and whose rows are filtered by a word.

import { button } from "../element";
import { card, make } from "./page";

export interface Column<R> {
  name: string;
  /** The value that sorts. */
  value(row: R): string | number;
  /** What is shown; the value itself where there is none. */
  text?(row: R): string;
  /** Long texts wrap. */
  wraps?: boolean;
}

/** Rows from which on a filter is offered. */
const FILTER_FROM = 6;

export class LiveTable<R> {
  readonly place: HTMLElement;
  private readonly body = make("tbody", "");
  private readonly heads: HTMLTableCellElement[] = [];
  private readonly filter = make("input", "filter");
  private readonly more = make("p", "note");
  private rows: R[] = [];
  private drawn = "";
  private sorted: { column: number; falls: boolean } | undefined;

  constructor(
    title: string,
    private readonly columns: Column<R>[],
  ) {
    const row = make("tr", "");
    columns.forEach((column, index) => row.append(this.head(column, index)));
    this.filter.type = "search";
    this.filter.placeholder = "filter";
    this.filter.setAttribute("aria-label", `Filter: ${title}`);
    this.filter.addEventListener("input", () => this.draw());
    const scroll = make("div", "scroll", make("table", "", make("thead", "", row), this.body));
    scroll.dataset["name"] = title;
    this.place = card(title, this.filter, scroll, this.more);
    this.place.hidden = true;
  }

  /** Shows these rows; the table is away where there are none. */
  set(rows: R[], note = ""): void {
    this.rows = rows;
    this.place.hidden = rows.length === 0;
    this.filter.hidden = rows.length < FILTER_FROM && !this.filter.value;
    this.more.textContent = note;
    this.draw();
  }

  private head(column: Column<R>, index: number): HTMLTableCellElement {
    const cell = make("th", column.wraps ? "text" : "", button(column.name, () => this.sort(index)));
    cell.scope = "col";
    this.heads.push(cell);
    return cell;
  }

  /** Numbers fall first, texts rise first; a second time it is the other way round. */
  private sort(column: number): void {
    const first = this.rows[0];
    const isNumber = first !== undefined && typeof (this.columns[column] as Column<R>).value(first) === "number";
    const falls = this.sorted?.column === column ? !this.sorted.falls : isNumber;
    this.sorted = { column, falls };
    this.heads.forEach((head, at) => {
      if (at === column) head.setAttribute("aria-sort", falls ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    this.draw();
  }

  private draw(): void {
    const cells = this.shown().map((row) => this.columns.map((column) => text(column, row)));
    // The page is touched only where something differs: a selection of text stays.
    const drawn = JSON.stringify(cells);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    const line = (texts: string[]) => {
      const row = make("tr", "");
      texts.forEach((one, at) => row.append(make("td", this.columns[at]?.wraps ? "text" : "", one)));
      return row;
    };
    this.body.replaceChildren(...cells.map(line));
  }

  private shown(): R[] {
    const word = this.filter.value.toLowerCase();
    const has = (row: R) => this.columns.some((column) => text(column, row).toLowerCase().includes(word));
    const rows = word ? this.rows.filter(has) : [...this.rows];
    if (!this.sorted) return rows;
    const { column, falls } = this.sorted;
    const { value } = this.columns[column] as Column<R>;
    return rows.sort((a, b) => compare(value(a), value(b)) * (falls ? -1 : 1));
  }
}

function text<R>(column: Column<R>, row: R): string {
  return column.text ? column.text(row) : String(column.value(row));
}

function compare(a: string | number, b: string | number): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b));
}
