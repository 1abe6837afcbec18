// Path data of lines: straight, stepped, with gaps; and as few points as can be seen.

import type { Series } from "./figure";
import type { Frame } from "./frame";
import { lowerBound } from "./range";
import { tenths } from "./element";

export interface Point {
  x: number;
  y: number;
}

/** Beyond the frame by so many pixels a coordinate says no more. */
const FAR = 4000;

/** The stretches of a line between its gaps, in pixels: what lies within the frame, and a point beside it on either side. */
export function stretches(series: Series, frame: Frame): Point[][] {
  const first = Math.max(0, lowerBound(series.x, frame.x.low) - 1);
  const all: Point[][] = [];
  let open: Point[] | undefined;
  for (let at = first; at < series.x.length; at += 1) {
    const [x, y] = [series.x[at] as number, series.y[at]];
    if (y === null || y === undefined) {
      open = undefined;
    } else {
      if (!open) all.push((open = []));
      open.push({ x: near(frame.across(x)), y: near(frame.down(y)) });
    }
    if (x > frame.x.high) break;
  }
  return all;
}

function near(pixel: number): number {
  return Math.min(FAR * 2, Math.max(-FAR, pixel));
}

/** A stretch's path data. A single point becomes a stroke too short to be seen as one. */
export function data(stretch: Point[], stepped: boolean): string {
  const points = stretch.map(({ x, y }, at) => {
    if (at === 0) return `M${tenths(x)} ${tenths(y)}`;
    return stepped ? `H${tenths(x)}V${tenths(y)}` : `L${tenths(x)} ${tenths(y)}`;
  });
  const [only] = stretch;
  return points.join("") + (only && stretch.length === 1 ? `H${tenths(only.x + 0.1)}` : "");
}

/** The stretch with at most four points for each pixel column: the first, the lowest, the highest and the last. */
export function reduced(stretch: Point[]): Point[] {
  const kept: Point[] = [];
  for (let from = 0; from < stretch.length; ) {
    const column = Math.floor((stretch[from] as Point).x);
    let to = from + 1;
    while (to < stretch.length && Math.floor((stretch[to] as Point).x) === column) to += 1;
    kept.push(...(to - from > 4 ? extremes(stretch, from, to) : stretch.slice(from, to)));
    from = to;
  }
  return kept;
}

function extremes(stretch: Point[], from: number, to: number): Point[] {
  let [low, high] = [from, from];
  const y = (at: number) => (stretch[at] as Point).y;
  for (let at = from; at < to; at += 1) {
    if (y(at) < y(low)) low = at;
    if (y(at) > y(high)) high = at;
  }
  const indices = new Set([from, low, high, to - 1]);
  return [...indices].sort((a, b) => a - b).map((at) => stretch[at] as Point);
}
