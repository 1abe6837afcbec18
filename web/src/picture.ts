// Saving a chart as PNG: title, legend and the picture as it is now.

import { shape, tenths } from "./element";
import type { Figure } from "./figure";
import { textWidth } from "./frame";

/** Pixels of the file for one of the picture. */
const SCALE = 2;
/** Where texts begin. */
const LEFT = 14;
/** The height of a line of the legend. */
const LINE = 20;
/** Room below the picture. */
const FOOT = 8;
/** The width of the sample before a name. */
const SAMPLE = 28;

/** Offers the picture for saving. `isHidden` says which series are not in it. */
export function save(figure: Figure, picture: SVGSVGElement, isHidden: (index: number) => boolean): void {
  const whole = standalone(figure, picture, isHidden);
  const source = new XMLSerializer().serializeToString(whole);
  const image = new Image();
  image.addEventListener("load", () => {
    const canvas = document.createElement("canvas");
    canvas.width = image.width * SCALE;
    canvas.height = image.height * SCALE;
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => blob && download(blob, fileName(figure.title)), "image/png");
  });
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(source)}`;
}

function download(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function fileName(title: string): string {
  const name = title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "");
  return (name || "chart").slice(0, 60) + ".png";
}

/** The picture with title, legend and ground, all colours written out. */
function standalone(figure: Figure, picture: SVGSVGElement, isHidden: (index: number) => boolean): SVGSVGElement {
  const { width, height } = picture.viewBox.baseVal;
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const entries = legend(figure, width - LEFT, isHidden, colour);
  const head = 44 + entries.rows * LINE;
  const whole = shape("svg", {
    width: width + 2 * LEFT,
    height: height + head + FOOT,
    viewBox: `0 0 ${width + 2 * LEFT} ${height + head + FOOT}`,
    "font-family": "system-ui, sans-serif",
    "font-size": 12,
    fill: colour("text"),
  });
  whole.append(
    shape("rect", { width: width + 2 * LEFT, height: height + head + FOOT, fill: colour("card") }),
    shape("text", { x: LEFT, y: 26, "font-size": 15, "font-weight": 600, fill: colour("ink") }, figure.title),
    ...entries.shapes,
  );
  const inner = shape("g", { transform: `translate(${LEFT} ${head})` });
  inner.append(...[...picture.childNodes].map((node) => node.cloneNode(true)));
  inner.querySelectorAll(".cursor, .selection").forEach((element) => element.remove());
  for (const element of [whole, ...whole.querySelectorAll("*"), ...inner.querySelectorAll("*")]) {
    writeOut(element, colour);
  }
  whole.append(inner);
  return whole;
}

/** Replaces the variables in an element's colours by what they stand for. */
function writeOut(element: Element, colour: (name: string) => string): void {
  for (const key of ["fill", "stroke"]) {
    const name = element.getAttribute(key)?.match(/^var\(--([a-z0-9]+)/)?.[1];
    if (name) element.setAttribute(key, colour(name));
  }
}

/** Samples and names of the series that show, in as many rows as they take. */
function legend(
  figure: Figure,
  width: number,
  isHidden: (index: number) => boolean,
  colour: (name: string) => string,
): { shapes: SVGElement[]; rows: number } {
  let [x, row] = [LEFT, 0];
  const shapes: SVGElement[] = [];
  figure.series.forEach((series, index) => {
    if (isHidden(index)) return;
    const room = SAMPLE + textWidth(series.label) + 16;
    if (x > LEFT && x + room > width) [x, row] = [LEFT, row + 1];
    const y = 50 + row * LINE;
    shapes.push(
      shape("path", {
        d: `M${tenths(x)} ${y - 4}h20`,
        stroke: colour(series.colour),
        ...(series.dash ? { "stroke-linecap": "round" } : {}),
        "stroke-width": ["steps", "points", "band"].includes(series.style) ? 7 : 2.5,
        ...(series.style === "band" ? { "stroke-opacity": "0.3" } : {}),
        ...(series.dash ? { "stroke-dasharray": series.dash } : {}),
      }),
      shape("text", { x: x + SAMPLE, y }, series.label),
    );
    x += room;
  });
  return { shapes, rows: row + 1 };
}
