// One figure as a chart that can be zoomed.

import uPlot from "uplot";
import type { Figure, Scale, Series } from "./figure";
import { joined } from "./join";
import { points, uprights } from "./marks";
import { percentile, short } from "./number";

export interface Look {
  dark: boolean;
  logY: boolean;
  width: number;
  height: number;
}

const NINES = [1, 2, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8];
const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';

/** Draws the figure into `place`, which is emptied. */
export function draw(figure: Figure, place: HTMLElement, look: Look): uPlot {
  place.textContent = "";
  return new uPlot(options(figure, look), aligned(figure, look), place);
}

/** All series over one common x; a logarithmic axis has no room for 0 and less. */
function aligned(figure: Figure, look: Look): uPlot.AlignedData {
  const y = (series: Series) =>
    look.logY ? series.y.map((value) => (value !== null && value > 0 ? value : null)) : series.y;
  const tables = figure.series.map((series) => ({ x: series.x, y: y(series) }));
  return tables.length > 0 ? joined(tables) : [[], []];
}

function options(figure: Figure, look: Look): uPlot.Options {
  const hasMarks = figure.series.some((series) => series.style === "points" || isUpright(series));
  const xScale: uPlot.Scale =
    figure.x.scale === "linear"
      ? { time: false, distr: 1, ...(hasMarks ? { range: (_plot, low, high) => besideRange(low, high) } : {}) }
      : { time: false, distr: 3, range: (_plot, low, high) => logRange(low, high, 1) };
  const yScale: uPlot.Scale = look.logY
    ? { distr: 3, range: (_plot, low, high) => logRange(low, high, 1.2) }
    : { distr: 1, range: (_plot, low, high) => linearRange(low, high) };
  return {
    width: look.width,
    height: look.height,
    padding: [12, 24, 0, 0],
    scales: { x: xScale, y: yScale },
    cursor: {
      drag: { x: true, y: true, uni: 40 },
      points: { size: 7 },
    },
    legend: {
      live: true,
      markers: { dash: (_plot, at) => (figure.series[at - 1]?.style === "dashes" ? "dashed" : "solid") },
    },
    axes: [
      { ...axis(figure.x.label, figure.x.scale, look), size: 34 },
      { ...axis(figure.y.label, look.logY ? "log" : "linear", look), size: yAxisSize },
    ],
    series: [
      {
        label: figure.x.label,
        value: (_plot, value) => shown(value, figure.x.scale),
      },
      ...(figure.series.length > 0 ? figure.series.map((series) => line(series, look)) : [{}]),
    ],
  };
}

/** Just what is there, and `room` times more on both sides; not whole decades, which would waste half a chart. */
function logRange(low: number | null, high: number | null, room: number): uPlot.Range.MinMax {
  const [from, to] = [low ?? 1, high ?? 10];
  return to > from * 1.01 ? [from / room, to * room] : [from / 2, from * 2];
}

/** Room on both sides, so that no mark stands on the frame. */
function besideRange(low: number | null, high: number | null): uPlot.Range.MinMax {
  const [from, to] = [low ?? 0, high ?? 1];
  const room = to > from ? (to - from) * 0.03 : Math.max(1, Math.abs(to) * 0.1);
  return [from - room, to + room];
}

function isUpright(series: Series): boolean {
  return series.style === "upright" || series.style === "dashes";
}

function linearRange(low: number | null, high: number | null): uPlot.Range.MinMax {
  const [from, to] = [Math.min(low ?? 0, 0), high ?? 1];
  return low !== null && low > 0 && to < low * 1.0001 ? [0, to * 1.1] : [from, to > from ? to * 1.06 : 1];
}

/** Room for the widest tick and the label. */
function yAxisSize(_plot: uPlot, values: string[] | null): number {
  const longest = (values ?? []).reduce((most, value) => Math.max(most, value?.length ?? 0), 0);
  return 20 + 7 * Math.max(3, longest);
}

function axis(label: string, scale: Scale, look: Look): uPlot.Axis {
  const grid = { stroke: look.dark ? "#2b323b" : "#e6e9ee", width: 1 };
  const common: uPlot.Axis = {
    label,
    labelSize: 24,
    labelFont: FONT,
    font: FONT,
    stroke: look.dark ? "#98a3b1" : "#5d6876",
    grid,
    ticks: { ...grid, size: 5 },
  };
  switch (scale) {
    case "nines":
      return {
        ...common,
        splits: (plot) => {
          const { min, max } = plot.scales["x"] ?? {};
          return NINES.filter((n) => n >= (min ?? 1) * 0.999 && n <= (max ?? 1) * 1.001);
        },
        filter: (_plot, splits) => splits,
        values: (_plot, splits) => splits.map(percentile),
      };
    case "log":
      return {
        ...common,
        splits: (_plot, _axis, low, high) => logSplits(low, high),
        filter: (_plot, splits) => splits,
        values: (_plot, splits) => splits.map(short),
      };
    case "linear":
      return { ...common, values: (_plot, splits) => splits.map(short) };
  }
}

/** Round numbers between two bounds: powers of ten, and twice and five times as much where there is room. */
function logSplits(low: number, high: number): number[] {
  const decades = Math.log10(high / low);
  const steps = decades < 1 ? [1, 1.5, 2, 3, 4, 5, 6, 8] : decades < 3.5 ? [1, 2, 5] : [1];
  const splits: number[] = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1) {
    for (const step of steps) {
      const value = Number((step * 10 ** power).toPrecision(3));
      if (value >= low && value <= high) splits.push(value);
    }
  }
  return splits;
}

function line(series: Series, look: Look): uPlot.Series {
  const stroke = look.dark ? series.dark : series.light;
  const common: uPlot.Series = {
    label: series.label,
    stroke,
    width: 1.5,
    points: { show: series.x.length === 1 },
    value: (_plot, value) => shown(value, "linear"),
  };
  const steps = uPlot.paths.stepped;
  switch (series.style) {
    case "line":
      return common;
    case "area":
      return { ...common, fill: stroke + "1f" };
    case "steps":
      return { ...common, fill: stroke + "1f", ...(steps ? { paths: steps({ align: 1 }) } : {}) };
    case "points":
      return { ...common, fill: stroke, points: { show: false }, paths: points(series, look.logY) };
    case "upright":
    case "dashes": {
      const dash = series.style === "dashes" ? { dash: [5, 4] } : {};
      return { ...common, ...dash, width: 1.8, points: { show: false }, paths: uprights(series) };
    }
  }
}

function shown(value: number | null | undefined, scale: Scale): string {
  if (value === null || value === undefined) return "\u2013";
  return scale === "nines" ? percentile(value) : short(value);
}
