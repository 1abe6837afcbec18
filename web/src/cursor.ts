// The cursor over a chart: a line from bottom to top, a dot on each series, and the value of the horizontal axis.

import { shape } from "./element";
import type { Series } from "./figure";
import { type Frame, textWidth } from "./frame";
import type { Reading } from "./reading";

/** The shapes of a cursor at `x`, with what each series reads there. */
export function cursor(x: number, frame: Frame, read: { series: Series; reading: Reading | undefined }[]): SVGElement[] {
  const at = frame.across(x);
  const line = shape("path", {
    d: `M${Math.floor(at) + 0.5} ${frame.top}V${frame.bottom}`,
    stroke: "var(--faint)",
    "stroke-dasharray": "3 3",
  });
  return [line, ...read.flatMap((one) => dots(one, frame)), ...flag(frame.x.text(x), at, frame)];
}

function dots({ series, reading }: { series: Series; reading: Reading | undefined }, frame: Frame): SVGElement[] {
  if (!reading) return [];
  const visible = reading.ys.filter((y) => frame.y.place(y) >= 0 && frame.y.place(y) <= 1);
  return visible.map((y) =>
    shape("circle", {
      cx: frame.across(reading.x),
      cy: frame.down(y),
      r: 4,
      fill: `var(--${series.colour})`,
      stroke: "var(--card)",
      "stroke-width": 1.5,
    }),
  );
}

/** The value of the horizontal axis, on that axis. */
function flag(text: string, at: number, frame: Frame): SVGElement[] {
  const width = textWidth(text) + 12;
  const left = Math.min(Math.max(at - width / 2, 0), frame.width - width);
  const top = frame.bottom + 4;
  return [
    shape("rect", { x: left, y: top, width, height: 19, rx: 4, fill: "var(--ink)" }),
    shape("text", { x: left + width / 2, y: top + 14, "text-anchor": "middle", fill: "var(--card)" }, text),
  ];
}
