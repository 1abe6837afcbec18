// The heat map beneath the percentiles: how many answers took how long in each period.

import type { Frame } from "../frame";
import type { History } from "./history";
import { type Period, rowBottom, rowTop } from "./run";

/** The faintest and the strongest cell. */
const FAINT = 0.08;
const STRONG = 0.75;
/** Shades of cells: one change of colour each. */
const SHADES = 16;
/** Pixels that a column is wide at least. */
const COLUMN = 3;

/** Left, top, width and height in pixels. */
type Cell = [number, number, number, number];

/** Answers per second by row, from some moment until another. */
interface Column {
  from: number;
  to: number;
  counts: Map<number, number>;
}

export class HeatMap {
  private readonly canvas = document.createElement("canvas");

  constructor(
    place: HTMLElement,
    private readonly history: History,
  ) {
    this.canvas.className = "heat";
    this.canvas.setAttribute("aria-hidden", "true");
    place.prepend(this.canvas);
  }

  draw(frame: Frame): void {
    const { width, height, left, right, top, bottom } = frame;
    const ratio = devicePixelRatio || 1;
    const size = [Math.round(width * ratio), Math.round(height * ratio)] as const;
    if (this.canvas.width !== size[0] || this.canvas.height !== size[1]) [this.canvas.width, this.canvas.height] = size;
    this.canvas.style.height = `${height}px`;
    const context = this.canvas.getContext("2d");
    if (!context) return;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    context.save();
    context.beginPath();
    context.rect(left, top, right - left, bottom - top);
    context.clip();
    context.fillStyle = getComputedStyle(this.canvas).color;
    this.cells(frame).forEach((cells, shade) => {
      context.globalAlpha = FAINT + ((STRONG - FAINT) * shade) / (SHADES - 1);
      context.beginPath();
      for (const [x, y, wide, high] of cells) context.rect(x, y, wide, high);
      context.fill();
    });
    context.restore();
  }

  /** The cells of each shade. A count's shade rises with its logarithm. */
  private cells(frame: Frame): Cell[][] {
    const shades: Cell[][] = Array.from({ length: SHADES }, () => []);
    const shown = this.history.periods.filter((period) => period.to > frame.x.low && period.from < frame.x.high);
    const columns = merged(shown, Math.ceil((frame.right - frame.left) / COLUMN));
    let most = 1;
    for (const { counts } of columns) for (const count of counts.values()) most = Math.max(most, count);
    const scale = Math.log1p(most);
    for (const { from, to, counts } of columns) {
      const [x, end] = [frame.across(from), frame.across(to)];
      for (const [row, count] of counts) {
        const [low, high] = [frame.down(rowBottom(row)), frame.down(rowTop(row))];
        const shade = Math.min(SHADES - 1, Math.floor((Math.log1p(count) / scale) * SHADES));
        (shades[shade] as Cell[]).push([x, high, end - x, low - high]);
      }
    }
    return shades;
  }
}

/** At most so many columns, each of neighbouring periods: more than the screen has pixels would cost time and show nothing. */
function merged(periods: Period[], columnsMax: number): Column[] {
  const size = Math.max(1, Math.ceil(periods.length / columnsMax));
  const columns: Column[] = [];
  periods.forEach(({ from, to, heat }, at) => {
    if (at % size === 0) columns.push({ from, to, counts: new Map() });
    const column = columns[columns.length - 1] as Column;
    column.to = to;
    for (let n = 0; n < heat.length; n += 2) {
      const row = heat[n] as number;
      column.counts.set(row, (column.counts.get(row) ?? 0) + (heat[n + 1] as number));
    }
  });
  for (const { from, to, counts } of columns) for (const [row, count] of counts) counts.set(row, count / (to - from || 1));
  return columns;
}
