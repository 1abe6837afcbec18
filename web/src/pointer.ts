// The pointer over a chart: it moves the cursor, and draws out an area to zoom into.

import { shape } from "./element";
import type { Frame } from "./frame";
import type { Range } from "./scale";

/** What the pointer acts on. */
export interface Surface {
  readonly picture: SVGSVGElement;
  frame(): Frame;
  point(pixel: number | undefined): void;
  zoom(x: Range | undefined, y: Range | undefined): void;
  reset(): void;
}

/** An area drawn out by less than this is a click; in one direction alone, the other axis stays as it is. */
const DRAG_MIN = 6;
const BOTH_MIN = 40;

interface Place {
  x: number;
  y: number;
}

export class Pointer {
  private from: Place | undefined;
  private readonly area = shape("rect", { class: "selection", rx: 2 });

  constructor(private readonly surface: Surface) {
    const { picture } = surface;
    picture.addEventListener("pointermove", (event) => this.moved(event));
    picture.addEventListener("pointerdown", (event) => this.pressed(event));
    picture.addEventListener("pointerup", (event) => this.released(event));
    picture.addEventListener("pointercancel", () => this.cancel());
    picture.addEventListener("pointerleave", () => {
      if (!this.from) surface.point(undefined);
    });
    picture.addEventListener("dblclick", () => surface.reset());
  }

  /** Ends drawing out without a zoom; false where nothing was being drawn out. */
  cancel(): boolean {
    const wasDrawing = this.from !== undefined;
    this.from = undefined;
    this.area.remove();
    return wasDrawing;
  }

  /** Where an event is, within the frame. */
  private place(event: PointerEvent): Place {
    const box = this.surface.picture.getBoundingClientRect();
    const frame = this.surface.frame();
    const scale = frame.width / (box.width || frame.width);
    const x = (event.clientX - box.left) * scale;
    const y = (event.clientY - box.top) * scale;
    return { x: clamp(x, frame.left, frame.right), y: clamp(y, frame.top, frame.bottom) };
  }

  private pressed(event: PointerEvent): void {
    if (event.button !== 0) return;
    this.from = this.place(event);
    // A pointer that has gone already cannot be captured; the drag then ends where it left.
    if (event.isTrusted) this.surface.picture.setPointerCapture(event.pointerId);
  }

  private moved(event: PointerEvent): void {
    const to = this.place(event);
    this.surface.point(to.x);
    if (!this.from) return;
    const { x, y } = this.drawnOut(this.from, to);
    const frame = this.surface.frame();
    const [left, right] = x ?? [frame.left, frame.right];
    const [top, bottom] = y ?? [frame.top, frame.bottom];
    const box = x || y ? { x: left, y: top, width: right - left, height: bottom - top } : { width: 0, height: 0 };
    for (const [key, value] of Object.entries(box)) this.area.setAttribute(key, String(value));
    this.surface.picture.append(this.area);
  }

  private released(event: PointerEvent): void {
    if (!this.from) return;
    const { x, y } = this.drawnOut(this.from, this.place(event));
    this.cancel();
    const frame = this.surface.frame();
    if (!x && !y) return;
    this.surface.zoom(
      x && [frame.xAt(x[0]), frame.xAt(x[1])],
      y && [frame.yAt(y[1]), frame.yAt(y[0])],
    );
  }

  /** The pixels drawn out of each axis: of the farther one alone, unless both are far. */
  private drawnOut(from: Place, to: Place): { x: Range | undefined; y: Range | undefined } {
    const [across, down] = [Math.abs(to.x - from.x), Math.abs(to.y - from.y)];
    const isBoth = across >= BOTH_MIN && down >= BOTH_MIN;
    const takesX = across >= DRAG_MIN && (isBoth || across >= down);
    const takesY = down >= DRAG_MIN && (isBoth || down > across);
    return {
      x: takesX ? [Math.min(from.x, to.x), Math.max(from.x, to.x)] : undefined,
      y: takesY ? [Math.min(from.y, to.y), Math.max(from.y, to.y)] : undefined,
    };
  }
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}
