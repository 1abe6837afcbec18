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
  /** "upright" and "dashes" are lines from bottom to top at each x; they have no y. */
  style: "line" | "area" | "steps" | "points" | "upright" | "dashes";
  /** One for each point; there for "points" alone. */
  marks?: Mark[];
  light: string;
  dark: string;
  x: number[];
  y: (number | null)[];
}

export interface Figure {
  title: string;
  x: Axis;
  y: Axis;
  series: Series[];
}

/** The figures of this page; none where it has no data. */
export function figures(): Figure[] {
  const data = document.getElementById("figures")?.textContent;
  return data ? (JSON.parse(data) as Figure[]) : [];
}
