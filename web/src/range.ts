// The ranges that axes show: all of a figure's values, or what is visible of them.

import type { Figure, Scale, Series } from "./figure";
import { type Range, Span } from "./scale";

/** Room beside the outermost marks, as a share of what lies between them: no mark stands on the frame. */
const MARK_ROOM = 0.03;
/** An even horizontal axis begins at 0 where the least value is at most this share of the greatest. */
const NEAR_ZERO = 0.1;
/** Room above the greatest value of an even vertical axis, as a share of it. */
const HEADROOM = 0.06;

export function isUpright(series: Series): boolean {
  return series.style === "upright" || series.style === "dashes";
}

export function isLine(series: Series): boolean {
  return series.style === "line" || series.style === "area";
}

/** The horizontal axis over all of a figure: what hides is still on it. */
export function across(figure: Figure): Span {
  const scale = figure.x.scale;
  const found = ends(scale, (add) => figure.series.forEach((series) => series.x.forEach(add)));
  const hasMarks = figure.series.some((series) => series.style === "points" || isUpright(series));
  if (!found) return nothing(scale);
  const [low, high] = found;
  if (scale === "linear") return new Span(scale, ...even(low, high, hasMarks));
  if (scale === "nines") return new Span(scale, 1, Math.max(10, high));
  return high > low * 1.01 ? new Span(scale, low, high) : new Span(scale, low / 2, high * 2);
}

/** An axis without values. */
function nothing(scale: Scale): Span {
  return scale === "linear" ? new Span(scale, 0, 1) : new Span(scale, 1, 10);
}

function even(least: number, high: number, hasMarks: boolean): Range {
  const low = least > 0 && least <= high * NEAR_ZERO ? 0 : least;
  const beside = hasMarks ? (high - low) * MARK_ROOM : 0;
  const room = high > low ? beside : Math.max(1, Math.abs(high) * 0.1);
  return [low - room, high + room];
}

/** The vertical axis over what the given series have within a horizontal range. */
export function upwards(series: Series[], scale: Scale, within: Range): Span {
  const found = ends(scale, (add) => series.forEach((one) => visibleValues(one, within, add)));
  if (!found) return nothing(scale);
  const [low, high] = found;
  if (scale !== "linear") return new Span(scale, ...rounded(low, high));
  const [from, to] = [Math.min(low, 0), high > 0 ? high : 1];
  return new Span(scale, from, to + (to - from) * HEADROOM);
}

function visibleValues(series: Series, [from, to]: Range, add: (value: number) => void): void {
  if (isUpright(series)) return;
  const first = Math.max(0, lowerBound(series.x, from) - 1);
  for (let at = first; at < series.x.length; at += 1) {
    const value = series.y[at];
    if (value !== null && value !== undefined) add(value);
    const low = series.low?.[at];
    if (low !== null && low !== undefined) add(low);
    if ((series.x[at] as number) > to) return;
  }
}

/** A linear vertical axis hides what is small beside its greatest value: from this ratio on a log axis is offered. */
const LOG_RATIO = 20;

/** A log axis shows more of this figure than a linear one, or the figure has one already. */
export function gainsByLog(figure: Figure): boolean {
  if (figure.y.scale === "log") return true;
  if (figure.y.scale !== "linear" || figure.series.some((series) => series.style === "steps")) return false;
  const values = figure.series.flatMap((series) => (isUpright(series) ? [] : series.y));
  // It has no room for values below zero.
  if (values.some((value) => value !== null && value < 0)) return false;
  const present = values.filter((value): value is number => value !== null && value > 0);
  const middle = present.sort((a, b) => a - b)[Math.floor(present.length / 10)];
  return middle !== undefined && (present[present.length - 1] as number) >= LOG_RATIO * middle;
}

/** The least and the greatest value that the scale has room for. */
function ends(scale: Scale, each: (add: (value: number) => void) => void): Range | undefined {
  let [low, high] = [Infinity, -Infinity];
  each((value) => {
    if (scale !== "linear" && value <= 0) return;
    low = Math.min(low, value);
    high = Math.max(high, value);
  });
  return low <= high ? [low, high] : undefined;
}

/** Rounded out to 1, 2 or 5 times a power of ten, at least half a decade apart. */
function rounded(low: number, high: number): Range {
  const step = (value: number) => 10 ** Math.floor(Math.log10(value));
  const down = [5, 2, 1].map((n) => n * step(low)).find((value) => value <= low * 1.000_001) ?? low;
  const up = [1, 2, 5, 10].map((n) => n * step(high)).find((value) => value >= high * 0.999_999) ?? high * 2;
  return up <= down * 2.5 ? [down / 2, up * 2] : [down, up];
}

/** The index of the first value that is not below `value`; the length where all are. `values` rise. */
export function lowerBound(values: number[], value: number): number {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((values[middle] as number) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The index of the first value above `value`; the length where none is. `values` rise. */
export function upperBound(values: number[], value: number): number {
  let at = lowerBound(values, value);
  while (values[at] === value) at += 1;
  return at;
}
