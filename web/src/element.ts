// Making elements of a page and of a picture.

type Attributes = Record<string, string | number>;

const SVG = "http://www.w3.org/2000/svg";

/** A shape of a picture; numbers to a tenth of a pixel. */
export function shape<K extends keyof SVGElementTagNameMap>(
  name: K,
  attributes: Attributes,
  ...children: (Node | string)[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) {
    element.setAttribute(key, typeof value === "number" ? tenths(value) : value);
  }
  element.append(...children);
  return element;
}

/** A pixel's coordinate to a tenth. */
export function tenths(value: number): string {
  return String(Math.round(value * 10) / 10);
}

/** A button of a page. */
export function button(text: string, act: () => void): HTMLButtonElement {
  const element = document.createElement("button");
  element.type = "button";
  element.textContent = text;
  element.addEventListener("click", act);
  return element;
}
