// What a browser may order: to stop the run, to mark a moment of it, and to change its load.

import { button } from "../element";
import { LoadControls } from "./load";
import { make } from "./page";
import type { Hello, State } from "./run";

export class Controls {
  readonly place = make("div", "tools");
  private readonly stop = button("Stop", () => this.askToStop());
  private readonly mark = button("Mark this moment", () => this.askForMark());
  private readonly note = make("span", "faint");
  private readonly load = new LoadControls((change) => void this.post("/load", JSON.stringify(change), "ordered"));
  private isStopping = false;
  private refused: string | null = null;

  constructor(private readonly query: string) {
    this.note.setAttribute("role", "status");
    this.place.append(this.load.place, this.mark, this.stop, this.note);
  }

  greet(hello: Hello): void {
    this.load.greet(hello);
    this.mark.hidden = !hello.marks;
  }

  /** The run is over, or the connection is. */
  disable(): void {
    this.stop.disabled = true;
    this.mark.disabled = true;
    this.load.disable();
  }

  enable(isDraining: boolean): void {
    this.stop.disabled = false;
    this.mark.disabled = false;
    this.isStopping = isDraining;
    this.stop.textContent = isDraining ? "End at once" : "Stop";
    if (isDraining) this.load.disable();
  }

  /** Shows the load at present. */
  set({ load, phase }: State): void {
    if (!load || phase !== "running") return this.load.disable();
    this.load.set(load);
    // A refusal stands in the state until the next change, and is shown once.
    if (load.refused && load.refused !== this.refused) this.note.textContent = load.refused;
    this.refused = load.refused;
  }

  private askToStop(): void {
    const question = this.isStopping
      ? "End at once? Requests under way are cut off."
      : "Stop the run? No more requests begin; those under way are waited for.";
    if (confirm(question)) void this.post("/stop", "", this.isStopping ? "ending" : "stopping");
  }

  private askForMark(): void {
    const text = prompt("What happens at this moment?", "")?.trim();
    if (text) void this.post("/mark", text, "marked");
  }

  private async post(path: string, body: string, done: string): Promise<void> {
    try {
      const answer = await fetch(path + this.query, { method: "POST", body });
      this.note.textContent = answer.ok ? done : (await answer.text()).trim();
    } catch {
      this.note.textContent = "brunt does not answer";
    }
  }
}
