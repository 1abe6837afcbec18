// What is no line from point to point: marks of single points, and lines from the bottom of a chart to its top.

import type uPlot from "uplot";
import type { Mark, Series } from "./figure";

type Path = (plot: uPlot) => uPlot.Series.Paths;

/** Half the width of a mark in CSS pixels. */
const HALF = 4;

/** Each point as its mark, of a shape for each kind: colours alone do not tell them apart. */
export function points(series: Series, logY: boolean): Path {
  return (plot) => {
    const paths = { stroke: new Path2D(), fill: new Path2D() };
    series.x.forEach((x, at) => {
      const y = series.y[at];
      if (y === null || y === undefined || (logY && y <= 0)) return;
      add(paths, series.marks?.[at] ?? "dot", plot.valToPos(x, "x", true), plot.valToPos(y, "y", true));
    });
    return paths;
  };
}

function add(paths: { stroke: Path2D; fill: Path2D }, mark: Mark, x: number, y: number): void {
  const half = HALF * devicePixelRatio;
  switch (mark) {
    case "dot":
      paths.fill.moveTo(x + half * 0.9, y);
      paths.fill.arc(x, y, half * 0.9, 0, 2 * Math.PI);
      return;
    case "cross":
      paths.stroke.moveTo(x - half, y - half);
      paths.stroke.lineTo(x + half, y + half);
      paths.stroke.moveTo(x - half, y + half);
      paths.stroke.lineTo(x + half, y - half);
      return;
    case "triangle":
      paths.stroke.moveTo(x, y - half);
      paths.stroke.lineTo(x + half, y + half);
      paths.stroke.lineTo(x - half, y + half);
      paths.stroke.closePath();
      return;
  }
}

/** A line across the whole height at each x. */
export function uprights(series: Series): Path {
  return (plot) => {
    const stroke = new Path2D();
    for (const value of series.x) {
      const x = plot.valToPos(value, "x", true);
      stroke.moveTo(x, plot.bbox.top);
      stroke.lineTo(x, plot.bbox.top + plot.bbox.height);
    }
    return { stroke };
  };
}
