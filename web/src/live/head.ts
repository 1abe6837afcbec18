// The head of the page: what runs, how far it is, and whether it can be believed so far.

import { groupOf } from "../group";
import { make, show } from "./page";
import type { Hello, Progress, State } from "./run";
import { type Zone, moment, stretch } from "./text";

const PHASES = { running: "running", draining: "stopping", ended: "ended" };

export class Head {
  readonly place = make("div", "");
  zone: Zone = "elapsed";
  private readonly title = make("h1", "");
  private readonly phase = make("span", "badge");
  private readonly verdict = make("span", "badge");
  private readonly command = make("p", "faint command");
  private readonly clock = make("p", "faint clock");
  private readonly bar = make("progress", "");
  private readonly reasons = make("ul", "reasons bad");
  private readonly cursor = make("output", "");
  private hello: Hello | undefined;

  constructor(controls: HTMLElement, changed: () => void) {
    this.phase.setAttribute("role", "status");
    const head = make("header", "", this.title, this.phase, this.verdict, controls);
    const row = make("div", "row", this.clock, this.zones(changed), this.cursor);
    this.place.append(head, this.command, this.bar, row, this.reasons);
    this.reasons.hidden = true;
    groupOf("linear Time since the start (s)").add({
      showCursor: (x) => show(this.cursor, x === undefined ? "" : `cursor: ${moment(x, this.began(), this.zone)}`),
      showRange: () => undefined,
    });
  }

  began(): number {
    return this.hello?.began ?? 0;
  }

  greet(hello: Hello): void {
    this.hello = hello;
    show(this.title, hello.title);
    show(this.command, hello.command === hello.title ? "" : hello.command);
    document.title = `${hello.title} - brunt`;
    this.verdict.hidden = hello.kind === "tables";
  }

  set(state: State): void {
    this.setProgress(state);
    const { valid, reasons } = state.verdict;
    show(this.verdict, `${valid ? "VALID" : "INVALID"}${state.phase === "ended" ? "" : " so far"}`);
    this.verdict.className = `badge ${valid ? "good" : "bad"}`;
    this.reasons.hidden = reasons.length === 0;
    if (this.reasons.textContent !== reasons.join("")) {
      this.reasons.replaceChildren(...reasons.map((reason) => make("li", "", reason)));
    }
  }

  /** How far it is. */
  setProgress(state: Progress): void {
    show(this.phase, PHASES[state.phase]);
    const duration = this.hello?.duration;
    const isKnown = duration || state.done !== undefined;
    this.bar.hidden = !isKnown || state.phase === "ended";
    if (duration) [this.bar.max, this.bar.value] = [duration, Math.min(duration, state.elapsed)];
    else if (state.done !== undefined) [this.bar.max, this.bar.value] = [1, state.done];
    const of = duration ? ` of ${stretch(duration)}` : "";
    const zone = this.zone === "elapsed" ? "local" : this.zone;
    show(this.clock, `began ${moment(0, this.began(), zone)}, ${stretch(state.elapsed)}${of}`);
  }

  /** The connection to brunt is lost, and tried anew. */
  lose(): void {
    show(this.phase, "connection lost; trying again");
  }

  private zones(changed: () => void): HTMLElement {
    const select = make("select", "");
    select.setAttribute("aria-label", "How moments are shown");
    const names: [Zone, string][] = [["elapsed", "since the start"], ["local", "local time"], ["utc", "UTC"]];
    for (const [zone, name] of names) select.append(new Option(name, zone));
    select.addEventListener("change", () => {
      this.zone = select.value as Zone;
      changed();
    });
    return select;
  }
}
