// The controls of a run's load: pause it, or have another rate or other users.

import { button } from "../element";
import { make } from "./page";
import type { Hello, Load } from "./run";

/** What `POST /load` takes. */
export type Change = { paused: boolean } | { rate: string } | { users: number };

export class LoadControls {
  readonly place = make("form", "load");
  private readonly pause = button("Pause", () => this.order({ paused: !this.isPaused }));
  private readonly field = make("input", "");
  private readonly apply = button("Set", () => this.place.requestSubmit());
  private control: Hello["control"] = null;
  private isPaused = false;
  /** The load that the field shows where no one types. */
  private shown = "";

  constructor(private readonly order: (change: Change) => void) {
    this.place.hidden = true;
    this.field.size = 9;
    this.place.append(this.field, this.apply, this.pause);
    this.place.addEventListener("submit", (event) => {
      event.preventDefault();
      this.ask(this.field.value.trim());
    });
  }

  greet({ control }: Hello): void {
    this.control = control;
    this.place.hidden = control === null;
    const isRate = control === "rate";
    this.field.setAttribute("aria-label", isRate ? "Requests per second, or requests/time such as 90/m" : "Users");
    this.field.inputMode = isRate ? "text" : "numeric";
    this.apply.textContent = isRate ? "Set rate" : "Set users";
  }

  disable(): void {
    for (const part of [this.pause, this.field, this.apply]) part.disabled = true;
  }

  set(load: Load): void {
    for (const part of [this.pause, this.field, this.apply]) part.disabled = false;
    this.isPaused = load.paused;
    this.pause.textContent = load.paused ? "Resume" : "Pause";
    const now = load.rate === null ? `${load.users}` : `${Number(load.rate.toPrecision(6))}`;
    if (now !== this.shown) {
      this.shown = now;
      if (document.activeElement !== this.field) this.field.value = now;
    }
  }

  private ask(text: string): void {
    if (text === "") return;
    // What is no number of users stays to be mended.
    if (this.control === "users" && !/^\d+$/.test(text)) return this.field.select();
    this.field.blur();
    this.order(this.control === "users" ? { users: Number(text) } : { rate: text });
  }
}
