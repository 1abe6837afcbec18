// One figure as a chart that answers: it is drawn at the size there is, zoomed, read at the cursor, and its series hide.

import { cursor } from "./cursor";
import { axes, ends, series } from "./draw";
import { shape } from "./element";
import type { Figure } from "./figure";
import { Frame, endNames } from "./frame";
import { type Group, type Member } from "./group";
import { Legend } from "./legend";
import { across, isUpright, lowerBound, upperBound, upwards } from "./range";
import { type Reading, nearest, reading } from "./reading";
import { type Range, Span } from "./scale";

/** The height of a picture in a card. */
const HEIGHT = 300;
/** What a picture that fills the window leaves to the rest of the page, and the most that it takes. */
const BESIDE = 250;
const TALL_MAX = 620;
const SIZE_MIN = 240;
/** How far a mark reaches beyond its point. */
const MARK_ROOM = 6;
/** The narrowest range that is shown, as a share of all. */
const ZOOM_MAX = 1e-6;

let clips = 0;

export class Chart implements Member {
  readonly picture: SVGSVGElement;
  private readonly legend: Legend | undefined;
  private whole: Span;
  /** Called after each drawing, for what lies beneath the picture. */
  beneath: ((frame: Frame) => void) | undefined;
  private readonly clip = `clip${(clips += 1)}`;
  /** What the picture says of itself to screen readers. */
  private readonly description: Element[];
  private readonly overlay = shape("g", { class: "cursor" });
  private xRange: Range | undefined;
  private yRange: Range | undefined;
  private cursorAt: number | undefined;
  private current: Frame;
  private logY: boolean;

  constructor(
    readonly figure: Figure,
    private readonly place: HTMLElement,
    private readonly group: Group,
  ) {
    this.logY = figure.y.scale === "log";
    this.whole = across(figure);
    this.picture = place.querySelector<SVGSVGElement>("svg.plot") ?? shape("svg", { class: "plot" });
    this.description = [...this.picture.querySelectorAll("desc")];
    const list = place.querySelector<HTMLElement>(".legend");
    if (list) this.legend = new Legend(list, () => this.draw(), (index) => this.emphasise(index));
    this.current = this.laidOut();
    group.add(this);
    this.draw();
  }

  frame(): Frame {
    return this.current;
  }

  isHidden(index: number): boolean {
    return this.legend?.isHidden(index) ?? false;
  }

  /** Draws all anew, for the width there is now. */
  draw(): void {
    this.current = this.laidOut();
    const frame = this.current;
    const { left, right, top, bottom, width, height } = frame;
    this.picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
    // A mark on the frame shows whole; where a part is shown, what lies beyond it ends at the frame.
    const room = this.xRange || this.yRange ? 1 : MARK_ROOM;
    const inside = shape("rect", {
      x: left - room,
      y: top - room,
      width: right - left + 2 * room,
      height: bottom - top + 2 * room,
    });
    const drawn = shape("g", { "clip-path": `url(#${this.clip})` });
    this.figure.series.forEach((one, index) => {
      const group = this.isHidden(index) ? shape("g", { class: "series" }) : series(one, frame);
      drawn.append(group);
    });
    this.picture.replaceChildren(
      ...this.description,
      shape("clipPath", { id: this.clip }, inside),
      ...axes(this.figure, frame),
      drawn,
      ...ends(this.figure, frame, (index) => this.isHidden(index)),
      this.overlay,
    );
    this.showCursor(this.cursorAt);
    this.beneath?.(frame);
  }

  /** Takes in what the figure's series have become. */
  update(): void {
    this.whole = across(this.figure);
    this.draw();
  }

  /** Draws anew if the width has changed. */
  resize(): void {
    if (this.current.width !== this.width()) this.draw();
  }

  toggleLog(): boolean {
    this.logY = !this.logY;
    this.yRange = undefined;
    this.draw();
    return this.logY;
  }

  private width(): number {
    return Math.max(SIZE_MIN, this.place.clientWidth);
  }

  private laidOut(): Frame {
    const isTall = this.place.classList.contains("tall");
    const height = isTall ? Math.min(TALL_MAX, Math.max(SIZE_MIN, innerHeight - BESIDE)) : HEIGHT;
    const scale = this.figure.y.scale === "nines" ? "nines" : this.logY ? "log" : "linear";
    const x = this.xRange ? new Span(this.figure.x.scale, ...this.xRange) : this.whole;
    const shown = this.figure.series.filter((_, index) => !this.isHidden(index));
    const y = this.yRange ? new Span(scale, ...this.yRange) : upwards(shown, scale, [x.low, x.high]);
    return new Frame(this.width(), height, x, y, endNames(this.figure, this.width()));
  }

  private emphasise(index: number | undefined): void {
    this.picture.querySelectorAll(".series").forEach((group, at) => {
      group.classList.toggle("dimmed", index !== undefined && at !== index);
    });
  }

  // The cursor, and the part of the axis that is shown: of all charts of the group.

  /** Moves the cursor of all charts to the data nearest to a pixel of this one. */
  point(pixel: number | undefined): void {
    this.group.pointAt(pixel === undefined ? undefined : this.snapped(this.current.xAt(pixel)));
  }

  /** The x of the data nearest to `x`, or `x` itself where none is within sight. */
  private snapped(x: number): number {
    const frame = this.current;
    const distance = (value: number) => Math.abs(frame.across(value) - frame.across(x));
    const found = this.readable().map((values) => values[nearest(values, x, frame)] as number);
    const inside = found.filter((value) => value >= frame.x.low && value <= frame.x.high);
    return inside.length > 0 ? inside.reduce((best, value) => (distance(value) < distance(best) ? value : best)) : x;
  }

  /** Of each series that shows and can be read, the values of the horizontal axis. */
  private readable(): number[][] {
    const shown = this.figure.series.filter((one, index) => !this.isHidden(index) && !isUpright(one));
    return shown.map((one) => one.x).filter((values) => values.length > 0);
  }

  showCursor(x: number | undefined): void {
    this.cursorAt = x;
    const frame = this.current;
    if (x === undefined || x < frame.x.low || x > frame.x.high) {
      this.overlay.replaceChildren();
      this.legend?.show(undefined);
      return;
    }
    const readings = this.readings(x);
    const read = this.figure.series.map((one, index) => ({ series: one, reading: readings[index] }));
    this.overlay.replaceChildren(...cursor(x, frame, read));
    this.legend?.show(readings.map((one) => one?.text));
  }

  private readings(x: number): (Reading | undefined)[] {
    return this.figure.series.map((one, index) => (this.isHidden(index) ? undefined : reading(one, x, this.current)));
  }

  /** Shows a part of the axes; an axis without one stays as it is. */
  zoom(x: Range | undefined, y: Range | undefined): void {
    if (y) this.yRange = y;
    if (x) this.group.zoomTo(x);
    else this.draw();
  }

  showRange(range: Range | undefined): void {
    const { low, high } = this.whole;
    const [from, to] = range ? [Math.max(low, range[0]), Math.min(high, range[1])] : [low, high];
    const isPart = from > low || to < high;
    // A chart that has nothing there stays as it is.
    if (range && !(this.whole.place(to) - this.whole.place(from) > ZOOM_MAX)) return;
    this.xRange = isPart ? [from, to] : undefined;
    if (!range) this.yRange = undefined;
    this.draw();
  }

  reset(): void {
    this.yRange = undefined;
    this.group.zoomTo(undefined);
  }

  // The keyboard.

  step(direction: -1 | 1): void {
    const { low, high } = this.current.x;
    const inside = (value: number | undefined) => value !== undefined && value >= low && value <= high;
    const next = this.readable().map((values) => this.neighbour(values, direction));
    const reached = next.filter(inside) as number[];
    if (reached.length > 0) this.moveTo(direction > 0 ? Math.min(...reached) : Math.max(...reached));
  }

  /** The value beside the cursor; without a cursor the first or the last one that shows. */
  private neighbour(values: number[], direction: -1 | 1): number | undefined {
    const { low, high } = this.current.x;
    if (direction > 0) return values[this.cursorAt === undefined ? lowerBound(values, low) : upperBound(values, this.cursorAt)];
    return values[(this.cursorAt === undefined ? upperBound(values, high) : lowerBound(values, this.cursorAt)) - 1];
  }

  leap(direction: -1 | 1): void {
    const { x } = this.current;
    const from = this.cursorAt === undefined ? 0.5 : x.place(this.cursorAt);
    const to = Math.min(1, Math.max(0, from + direction * 0.1));
    this.moveTo(this.snapped(x.at(to)));
  }

  jump(end: 0 | 1): void {
    this.moveTo(this.snapped(this.current.x.at(end)));
  }

  /** What was read is spoken, too: the place has a text that screen readers follow. */
  private moveTo(x: number): void {
    this.group.pointAt(x);
    const readings = this.readings(x);
    const values = this.figure.series.map((one, at) => `${one.label} ${readings[at]?.text ?? ""}`);
    const spoken = this.place.querySelector(".spoken");
    if (spoken) spoken.textContent = `${this.figure.x.label} ${this.current.x.text(x)}: ${values.join(", ")}`;
  }

  scale(factor: number): void {
    const { x } = this.current;
    const middle = this.cursorAt === undefined ? 0.5 : x.place(this.cursorAt);
    this.group.zoomTo([x.at(middle - middle * factor), x.at(middle + (1 - middle) * factor)]);
  }

  escape(): void {
    this.group.pointAt(undefined);
    this.reset();
  }
}
