// How values are spread along an axis, and where its ticks stand: what crates/report/src/figure/scale.rs does for pictures,
// and ranges within it that a reader picks.

import type { Scale } from "./figure";
import { percentile, short, spaced } from "./number";

/** From the least value to the greatest. */
export type Range = [number, number];

export interface Tick {
  value: number;
  text: string;
}

/** The multiples of powers of ten that ticks of a log axis stand on: the first row that gives few enough is taken. */
const LOG_STEPS = [[1, 1.5, 2, 3, 4, 5, 6, 8], [1, 2, 5], [1, 3], [1]];
/** The same for percentiles by their nines: 90, 95, 98, 99 %. */
const NINES_STEPS = [[1, 2, 5], [1]];

export class Span {
  constructor(
    readonly scale: Scale,
    readonly low: number,
    readonly high: number,
  ) {}

  /** Where a value lies, 0 at the low end, 1 at the high end. A logarithmic axis has 0 and less at its low end. */
  place(value: number): number {
    if (this.scale === "linear") return (value - this.low) / (this.high - this.low);
    return value > 0 ? Math.log(value / this.low) / Math.log(this.high / this.low) : 0;
  }

  /** The value at a place. */
  at(place: number): number {
    if (this.scale === "linear") return this.low + place * (this.high - this.low);
    return this.low * (this.high / this.low) ** place;
  }

  /** A value as text. */
  text(value: number): string {
    return this.scale === "nines" ? percentile(value) : short(value);
  }

  /** The ticks, about `wanted` of them. */
  ticks(wanted: number): Tick[] {
    switch (this.scale) {
      case "linear":
        return linearTicks(this.low, this.high, wanted);
      case "log":
        return this.logTicks(LOG_STEPS, wanted);
      case "nines":
        return this.ninesTicks(wanted);
    }
  }

  private logTicks(rows: number[][], wanted: number): Tick[] {
    const fitting = rows.map((steps) => this.multiples(steps, 1)).find((values) => values.length <= wanted);
    const decades = Math.log10(this.high / this.low);
    const values = fitting ?? this.multiples([1], Math.floor(decades / Math.max(1, wanted)) + 1);
    if (values.length < 2) return linearTicks(this.low, this.high, wanted);
    return values.map((value) => ({ value, text: this.text(value) }));
  }

  /** Where all is shown: 0 %, 50 % and the nines, as a picture has them; in a part of it, as fit. */
  private ninesTicks(wanted: number): Tick[] {
    if (this.low > 1 || this.high < 10) return this.logTicks(NINES_STEPS, wanted);
    const values = [1, 2, ...this.multiples([1], 1).filter((value) => value >= 10)];
    return values.map((value) => ({ value, text: this.text(value) }));
  }

  /** Multiples of every n-th power of ten within the span. */
  private multiples(steps: number[], nth: number): number[] {
    const values: number[] = [];
    const last = Math.ceil(Math.log10(this.high));
    for (let power = Math.floor(Math.log10(this.low)); power <= last; power += nth) {
      for (const step of steps) {
        const value = Number((step * 10 ** power).toPrecision(3));
        if (value >= this.low * 0.999_999 && value <= this.high * 1.000_001) values.push(value);
      }
    }
    return values;
  }
}

function linearTicks(low: number, high: number, wanted: number): Tick[] {
  const raw = (high - low) / Math.max(1, wanted);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = ([1, 2, 2.5, 5, 10].find((multiple) => multiple * power >= raw * 0.999) ?? 10) * power;
  const [first, last] = [Math.ceil(low / step - 1e-9), Math.floor(high / step + 1e-9)];
  const values: number[] = [];
  for (let n = first; n <= Math.min(last, first + 100); n += 1) values.push(n * step);
  const texts = spaced(values, step);
  return values.map((value, index) => ({ value, text: texts[index] ?? "" }));
}
