// The figures of a run at the top of the page.

import { make, show } from "./page";
import type { Progress, State } from "./run";
import { bytes, share, time, whole } from "./text";

export class Tiles {
  readonly place = make("div", "tiles");
  private readonly values = new Map<string, HTMLElement>();

  set(state: State): void {
    const [mean = 0, p50 = 0, , p95 = 0, p99 = 0, max = 0] = state.times;
    const { generator } = state;
    const times: [string, string][] =
      state.requests === 0
        ? []
        : [["mean", time(mean)], ["p50", time(p50)], ["p95", time(p95)], ["p99", time(p99)], ["max", time(max)]];
    this.setMore(state);
    const tiles: [string, string][] = [
      ["requests", whole(state.requests)],
      ["failed", whole(state.failed)],
      ["failed, share of all", share(state.failed, state.requests)],
      ...times,
      ["received", bytes(state.bytes)],
      ["connections opened", whole(generator.connections)],
      ["generator's lag, p99", time(generator.lag[1])],
      ["not sent", whole(generator.notSent)],
    ];
    for (const [name, value] of tiles) show(this.tile(name), value);
  }

  /** Shows what the command adds. */
  setMore({ more }: Progress): void {
    for (const [name, value] of more?.tiles ?? []) show(this.tile(name), value);
  }

  private tile(name: string): HTMLElement {
    const known = this.values.get(name);
    if (known) return known;
    const value = make("b", "");
    this.values.set(name, value);
    this.place.append(make("div", "tile", value, make("span", "", name)));
    return value;
  }
}
