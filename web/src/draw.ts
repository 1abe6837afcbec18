// A figure as shapes: grid, ticks, labels and series, as crates/report/src/figure/ draws them.

import { shape, tenths } from "./element";
import type { Figure, Mark, Series } from "./figure";
import { END_GAP, type Frame, TICK_GAP } from "./frame";
import { isLine } from "./range";
import { data, reduced, stretches } from "./path";

/** Half the width of a mark. */
const HALF = 4;
/** A line that ends farther from the right side than this share of the width has no name there. */
const END_REACH = 0.3;
/** Pixels between two names at the right side, baseline to baseline. */
const END_LINE = 14;

/** The grid, the texts of ticks and the labels of both axes. */
export function axes(figure: Figure, frame: Frame): SVGElement[] {
  const { left, right, top, bottom } = frame;
  let grid = `M${tenths(left)} ${crisp(bottom)}H${tenths(right)}`;
  const texts: SVGElement[] = [];
  for (const { value, text } of frame.xTicks) {
    const at = frame.across(value);
    grid += `M${crisp(at)} ${tenths(top)}V${tenths(bottom)}`;
    texts.push(shape("text", { x: at, y: bottom + 18, "text-anchor": "middle" }, text));
  }
  for (const { value, text } of frame.yTicks) {
    const at = frame.down(value);
    grid += `M${tenths(left)} ${crisp(at)}H${tenths(right)}`;
    texts.push(shape("text", { x: left - TICK_GAP, y: at + 4, "text-anchor": "end" }, text));
  }
  const middle = (left + right) / 2;
  texts.push(shape("text", { x: middle, y: bottom + 38, "text-anchor": "middle" }, figure.x.label));
  texts.push(shape("text", { x: 0, y: top - 14 }, figure.y.label));
  return [
    shape("path", { d: grid, fill: "none", stroke: "var(--line)" }),
    shape("g", { fill: "var(--faint)" }, ...texts),
  ];
}

/** The middle of the pixel that a line of one pixel falls into. */
function crisp(at: number): number {
  return Math.floor(at) + 0.5;
}

/** One series, in a group of its own. */
export function series(one: Series, frame: Frame): SVGElement {
  return shape("g", { class: "series" }, ...shapes(one, frame, `var(--${one.colour})`));
}

function shapes(one: Series, frame: Frame, colour: string): SVGElement[] {
  switch (one.style) {
    case "line":
    case "area":
    case "steps":
      return line(one, frame, colour);
    case "band":
      return band(one, frame, colour);
    case "points":
      return marks(one, frame, colour);
    case "upright":
    case "dashes":
      return uprights(one, frame, colour);
  }
}

/** A line, and the area below it where its style has one. */
function line(one: Series, frame: Frame, colour: string): SVGElement[] {
  const stepped = one.style === "steps";
  let [strokes, areas] = ["", ""];
  for (const stretch of stretches(one, frame)) {
    const points = stepped ? stretch : reduced(stretch);
    const path = data(points, stepped);
    const [first, last] = [points[0], points[points.length - 1]];
    if (first && last && points.length > 1) {
      areas += `${path}L${tenths(last.x)} ${tenths(frame.bottom)}L${tenths(first.x)} ${tenths(frame.bottom)}Z`;
    }
    strokes += path;
  }
  const stroke = shape("path", {
    d: strokes,
    fill: "none",
    stroke: colour,
    "stroke-width": 1.5,
    "stroke-linejoin": "round",
    "stroke-linecap": "round",
    ...(one.dash ? { "stroke-dasharray": one.dash } : {}),
  });
  if (one.style === "line") return [stroke];
  return [shape("path", { d: areas, fill: colour, "fill-opacity": "0.12" }), stroke];
}

/** The area between the lower edge and the upper one; a gap in either is one in both. */
function band(one: Series, frame: Frame, colour: string): SVGElement[] {
  const upper = one.y.map((y, at) => (one.low?.[at] == null ? null : y));
  const lower = one.y.map((y, at) => (y == null ? null : (one.low?.[at] ?? null)));
  const edge = (y: (number | null)[]) => stretches({ ...one, y }, frame);
  const lows = edge(lower);
  const areas = edge(upper).map((stretch, at) => {
    const back = [...(lows[at] ?? [])].reverse();
    return `${data(stretch, false)}L${back.map(({ x, y }) => `${tenths(x)} ${tenths(y)}`).join("L")}Z`;
  });
  return [shape("path", { d: areas.join(""), fill: colour, "fill-opacity": "0.18" })];
}

/** The names of lines at their right ends, as crates/report/src/figure/ends.rs places them. */
export function ends(figure: Figure, frame: Frame, isHidden: (index: number) => boolean): SVGElement[] {
  const names = frame.ends;
  if (!names) return [];
  const found: { x: number; y: number; text: string; colour: string }[] = [];
  figure.series.forEach((one, index) => {
    if (isHidden(index) || !isLine(one)) return;
    const stretch = stretches(one, frame).pop();
    const last = stretch?.filter((point) => point.x <= frame.right + 1).pop();
    if (!last || last.x < frame.right - END_REACH * (frame.right - frame.left)) return;
    const y = Math.min(frame.bottom, Math.max(frame.top, last.y));
    found.push({ x: last.x + END_GAP, y, text: names[index] ?? "", colour: `var(--${one.colour})` });
  });
  found.sort((a, b) => a.y - b.y);
  apart(found, frame);
  return found.map(({ x, y, text, colour }) =>
    shape("text", { class: "end", x, y: y + 4, fill: colour }, text),
  );
}

/** Moves texts that would touch: downwards first, then up from the frame's bottom. */
function apart(found: { y: number }[], frame: Frame): void {
  let free = -Infinity;
  for (const one of found) {
    one.y = Math.max(one.y, free);
    free = one.y + END_LINE;
  }
  let limit = frame.bottom;
  for (const one of [...found].reverse()) {
    one.y = Math.min(one.y, limit);
    limit = one.y - END_LINE;
  }
}

/** Each point as its mark, of a shape for each kind: colours alone do not tell them apart. */
function marks(one: Series, frame: Frame, colour: string): SVGElement[] {
  const all: SVGElement[] = [];
  one.x.forEach((x, at) => {
    const y = one.y[at];
    if (y === null || y === undefined) return;
    all.push(mark(one.marks?.[at] ?? "dot", frame.across(x), frame.down(y), colour));
  });
  return [shape("g", { fill: "none", stroke: colour, "stroke-width": "1.6" }, ...all)];
}

function mark(kind: Mark, x: number, y: number, colour: string): SVGElement {
  const [left, right, top, bottom] = [x - HALF, x + HALF, y - HALF, y + HALF].map(tenths);
  switch (kind) {
    case "dot":
      return shape("circle", { cx: x, cy: y, r: 3.6, fill: colour });
    case "cross":
      return shape("path", { d: `M${left} ${top}L${right} ${bottom}M${left} ${bottom}L${right} ${top}` });
    case "triangle":
      return shape("path", { d: `M${tenths(x)} ${top}L${right} ${bottom}H${left}Z` });
  }
}

/** A line from bottom to top at each x. */
function uprights(one: Series, frame: Frame, colour: string): SVGElement[] {
  const dash = one.style === "dashes" ? { "stroke-dasharray": "5 4" } : {};
  return one.x.map((x) => {
    const d = `M${tenths(frame.across(x))} ${tenths(frame.top)}V${tenths(frame.bottom)}`;
    return shape("path", { d, stroke: colour, "stroke-width": 1.8, ...dash });
  });
}
