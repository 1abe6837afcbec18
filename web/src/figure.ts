// The data a page brings: the shape that crates/report/src/figure/data.rs writes.

export type Scale = "linear" | "log" | "nines";

export interface Axis {
  label: string;
  scale: Scale;
}

/** The shape of a point. */
export type Mark = "dot" | "cross" | "triangle";

export interface Series {
  label: string;
  /** "upright" and "dashes" are lines from bottom to top at each x; they have no y. A "band" is an area from low to y. */
  style: "line" | "area" | "steps" | "band" | "points" | "upright" | "dashes";
  /** The lower edge at each x; there for "band" alone. */
  low?: (number | null)[];
  /** One for each point; there for "points" alone. */
  marks?: Mark[];
  /** The CSS variable of its colour, without the two dashes. */
  colour: string;
  /** The dash pattern of its line; absent for a line without gaps. */
  dash?: string;
  /** Rising; a value may stand several times. */
  x: number[];
  /** One for each x; null is a gap. */
  y: (number | null)[];
}

export interface Figure {
  title: string;
  x: Axis;
  y: Axis;
  series: Series[];
}

/** In a page's data a series without x has that of the series before it. */
type Packed = Omit<Figure, "series"> & { series: (Omit<Series, "x"> & { x?: number[] })[] };

/** The figures of this page; none where it has no data. */
export function figures(): Figure[] {
  const data = document.getElementById("figures")?.textContent;
  return data ? (JSON.parse(data) as Packed[]).map(unpacked) : [];
}

function unpacked(figure: Packed): Figure {
  let x: number[] = [];
  const series = figure.series.map((one) => {
    x = one.x ?? x;
    return { ...one, x };
  });
  return { ...figure, series };
}
