// The heat map beneath the percentiles: how many answers took how long in each period.

import type { Frame } from "../frame";
import type { History } from "./history";
import { rowBottom, rowTop } from "./run";

/** The faintest and the strongest cell. */
const FAINT = 0.08;
const STRONG = 0.75;
/** Shades of cells: one change of colour each. */
const SHADES = 16;

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
  private cells(frame: Frame): [number, number, number, number][][] {
    const shades: [number, number, number, number][][] = Array.from({ length: SHADES }, () => []);
    const shown = this.history.periods.filter((period) => period.to > frame.x.low && period.from < frame.x.high);
    let most = 1;
    for (const { heat, from, to } of shown) {
      for (let at = 1; at < heat.length; at += 2) most = Math.max(most, (heat[at] as number) / (to - from || 1));
    }
    const scale = Math.log1p(most);
    for (const { heat, from, to } of shown) {
      const [x, end] = [frame.across(from), frame.across(to)];
      for (let at = 0; at < heat.length; at += 2) {
        const [row, count] = [heat[at] as number, (heat[at + 1] as number) / (to - from || 1)];
        const [low, high] = [frame.down(rowBottom(row)), frame.down(rowTop(row))];
        const shade = Math.min(SHADES - 1, Math.floor((Math.log1p(count) / scale) * SHADES));
        (shades[shade] as [number, number, number, number][]).push([x, high, end - x, low - high]);
      }
    }
    return shades;
  }
}
