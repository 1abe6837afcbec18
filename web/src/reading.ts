// What a series reads at a place of the horizontal axis.

import type { Series } from "./figure";
import type { Frame } from "./frame";
import { isUpright, lowerBound } from "./range";
import type { Span } from "./scale";

export interface Reading {
  text: string;
  /** Where the dots of the cursor stand. */
  x: number;
  ys: number[];
}

/** A point this many pixels away is read as it is; farther away the line between two points is read. */
const NEAR = 24;

/** What stands at `x`, or nearest to it; undefined where the series has nothing to read there. */
export function reading(series: Series, x: number, frame: Frame): Reading | undefined {
  if (series.x.length === 0) return undefined;
  if (isUpright(series)) return { text: range(series.x, frame.x), x, ys: [] };
  if (series.style === "steps") return step(series, x, frame);
  if (series.style === "band") return bandAt(series, x, frame);
  const at = nearest(series.x, x, frame);
  const found = series.x[at] as number;
  const isNear = Math.abs(frame.across(found) - frame.across(x)) <= NEAR;
  if (isNear) return all(series, found, frame);
  return series.style === "points" ? undefined : between(series, x, frame);
}

/** The index of the value whose pixel is nearest. */
export function nearest(values: number[], x: number, frame: Frame): number {
  const after = Math.min(values.length - 1, lowerBound(values, x));
  const before = Math.max(0, after - 1);
  const distance = (at: number) => Math.abs(frame.across(values[at] as number) - frame.across(x));
  return distance(before) < distance(after) ? before : after;
}

/** Both edges of a band at the nearest point. */
function bandAt(series: Series, x: number, frame: Frame): Reading | undefined {
  const at = nearest(series.x, x, frame);
  const [found, low, high] = [series.x[at] as number, series.low?.[at], series.y[at]];
  if (low == null || high == null || Math.abs(frame.across(found) - frame.across(x)) > NEAR) return undefined;
  return { text: range([low, high], frame.y), x: found, ys: [] };
}

/** All values at one x: one, or the range of several. */
function all(series: Series, x: number, frame: Frame): Reading | undefined {
  const ys: number[] = [];
  for (let at = lowerBound(series.x, x); series.x[at] === x; at += 1) {
    const y = series.y[at];
    if (y !== null && y !== undefined) ys.push(y);
  }
  if (ys.length === 0) return undefined;
  return { text: range(ys, frame.y), x, ys };
}

/** One value, or the least and the greatest of several. */
function range(values: number[], span: Span): string {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return low === high ? span.text(low) : `${span.text(low)} – ${span.text(high)}`;
}

/** The value that holds from the last edge on; none beyond the last one. */
function step(series: Series, x: number, frame: Frame): Reading | undefined {
  const after = lowerBound(series.x, x);
  const at = series.x[after] === x ? after : after - 1;
  const y = series.y[at];
  if (y === null || y === undefined || at + 1 >= series.x.length) return undefined;
  return { text: frame.y.text(y), x, ys: [y] };
}

/** What the line that is drawn between two points shows. */
function between(series: Series, x: number, frame: Frame): Reading | undefined {
  const after = lowerBound(series.x, x);
  const [x0, x1, y0, y1] = [series.x[after - 1], series.x[after], series.y[after - 1], series.y[after]];
  if (x0 === undefined || x1 === undefined || y0 == null || y1 == null) return undefined;
  const [from, to, here] = [frame.across(x0), frame.across(x1), frame.across(x)];
  const share = to > from ? (here - from) / (to - from) : 0;
  const y = frame.y.at(frame.y.place(y0) * (1 - share) + frame.y.place(y1) * share);
  return { text: frame.y.text(y), x, ys: [y] };
}
