// The data a page brings: the shape that crates/report/src/figure/data.rs writes.

export type Scale = "linear" | "log" | "nines";

export interface Axis {
  label: string;
  scale: Scale;
}

export interface Series {
  label: string;
  style: "line" | "area" | "steps";
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
