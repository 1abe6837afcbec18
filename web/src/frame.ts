// Where a figure's values lie on a picture, and where its ticks stand: what crates/report/src/figure/frame.rs does.

import type { Figure } from "./figure";
import { isLine } from "./range";
import { type Span, type Tick } from "./scale";

/** Mean width of a character of a tick's text. */
const CHAR_WIDTH = 7;
/** Pixels above the frame, for the vertical axis' label. */
const ABOVE = 28;
/** Pixels below the frame, for ticks and the horizontal axis' label. */
const BELOW = 44;
/** Pixels to the right of the frame, for half of the last tick's text. */
const BESIDE = 20;
/** Pixels that texts beside the vertical axis take at the least: charts below one another then have one left edge. */
const TEXT_MIN = 35;
/** Pixels between the frame and the names at the ends of lines. */
export const END_GAP = 6;
/** The most lines with a name at their end, the characters of one, and the share of the width that names may take. */
const ENDS_MAX = 6;
const END_CHARS = 14;
const ENDS_SHARE = 0.25;
/** Some names have wider letters than the mean. */
const END_WIDER = 1.15;
/** Pixels between a vertical tick's text and the frame. */
export const TICK_GAP = 8;
/** Pixels between the texts of two horizontal ticks, at least. */
const TEXT_GAP = 10;
/** Pixels of one tick: how many there is room for. */
const TICK_ROOM = { x: 72, y: 44 };

/** The names at the ends of a figure's lines, by the number of the series; undefined where there is no room or no need. */
export function endNames(figure: Figure, width: number): string[] | undefined {
  const lines = figure.series.filter(isLine);
  if (lines.length < 2 || lines.length > ENDS_MAX) return undefined;
  const names = figure.series.map((one) => endName(one.label));
  const distinct = new Set(lines.map((one) => endName(one.label)));
  return distinct.size === lines.length && endsWidth(names) <= width * ENDS_SHARE ? names : undefined;
}

/** A label without what follows a bracket or colon, cut where it is long. */
function endName(label: string): string {
  const name = [...(label.split(/ \(|: /)[0] ?? "")];
  return name.length > END_CHARS ? `${name.slice(0, END_CHARS - 1).join("")}\u2026` : name.join("");
}

function endsWidth(names: string[]): number {
  return END_GAP + Math.max(...names.map(textWidth)) * END_WIDER;
}

export function textWidth(text: string): number {
  return CHAR_WIDTH * [...text].length;
}

export class Frame {
  readonly left: number;
  readonly right: number;
  readonly top = ABOVE;
  readonly bottom: number;
  readonly xTicks: Tick[];
  readonly yTicks: Tick[];

  constructor(
    readonly width: number,
    readonly height: number,
    readonly x: Span,
    readonly y: Span,
    /** The names at the ends of lines (see `endNames`). */
    readonly ends?: string[],
  ) {
    this.bottom = height - BELOW;
    this.right = width - (ends ? Math.max(BESIDE, Math.ceil(endsWidth(ends))) : BESIDE);
    this.yTicks = y.ticks(Math.floor((this.bottom - this.top) / TICK_ROOM.y) + 1);
    const widest = this.yTicks.reduce((most, tick) => Math.max(most, textWidth(tick.text)), TEXT_MIN);
    this.left = Math.ceil(widest + TICK_GAP);
    this.xTicks = this.parted(x.ticks(Math.floor((this.right - this.left) / TICK_ROOM.x) + 1));
  }

  /** Without each tick whose text would touch the one before it. */
  private parted(ticks: Tick[]): Tick[] {
    let free = -Infinity;
    return ticks.filter((tick) => {
      const [at, half] = [this.across(tick.value), textWidth(tick.text) / 2];
      if (at - half < free) return false;
      free = at + half + TEXT_GAP;
      return true;
    });
  }

  /** The pixel of a value on the horizontal axis. */
  across(value: number): number {
    return this.left + this.x.place(value) * (this.right - this.left);
  }

  /** The pixel of a value on the vertical axis. */
  down(value: number): number {
    return this.bottom - this.y.place(value) * (this.bottom - this.top);
  }

  /** The value at a pixel of the horizontal axis. */
  xAt(pixel: number): number {
    return this.x.at((pixel - this.left) / (this.right - this.left));
  }

  /** The value at a pixel of the vertical axis. */
  yAt(pixel: number): number {
    return this.y.at((this.bottom - pixel) / (this.bottom - this.top));
  }
}
