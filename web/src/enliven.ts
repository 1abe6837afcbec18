// Gives a chart all it answers to: buttons, pointer, keyboard and the width of its place.

import { Chart } from "./chart";
import { button } from "./element";
import type { Figure } from "./figure";
import { groupOf } from "./group";
import { listen } from "./keys";
import { save } from "./picture";
import { Pointer } from "./pointer";
import { gainsByLog } from "./range";

/** Makes a chart of a figure in its place; its buttons stand beside the heading before it. */
export function enliven(figure: Figure, place: HTMLElement, offersLog = gainsByLog(figure)): Chart {
  const chart = new Chart(figure, place, groupOf(`${figure.x.scale} ${figure.x.label}`));
  const pointer = new Pointer(chart);
  addHead(place, tools(chart, offersLog));
  place.tabIndex = 0;
  place.setAttribute("role", "application");
  place.setAttribute("aria-label", `Chart: ${figure.title}. Arrow keys read it, + and - zoom, Escape shows all.`);
  const spoken = document.createElement("p");
  spoken.className = "spoken";
  spoken.setAttribute("aria-live", "polite");
  place.append(spoken);
  listen(place, {
    step: (direction) => chart.step(direction),
    leap: (direction) => chart.leap(direction),
    jump: (end) => chart.jump(end),
    scale: (factor) => chart.scale(factor),
    escape: () => pointer.cancel() || chart.escape(),
  });
  // Drawing changes the height: within the observer itself that would be a loop.
  new ResizeObserver(() => requestAnimationFrame(() => chart.resize())).observe(place);
  return chart;
}

function tools(chart: Chart, offersLog: boolean): HTMLElement {
  const row = document.createElement("div");
  row.className = "tools";
  row.append(button("Reset zoom", () => chart.reset()));
  if (offersLog) {
    const toggle = button("Log scale", () => toggle.setAttribute("aria-pressed", String(chart.toggleLog())));
    toggle.setAttribute("aria-pressed", String(chart.figure.y.scale === "log"));
    row.append(toggle);
  }
  const isHidden = (index: number) => chart.isHidden(index);
  row.append(button("Save PNG", () => save(chart.figure, chart.picture, isHidden)));
  return row;
}

/** Title and buttons share a line where both fit, and have one each where they do not. */
function addHead(place: HTMLElement, row: HTMLElement): void {
  const head = document.createElement("div");
  head.className = "head";
  const title = place.previousElementSibling;
  place.before(head);
  if (title instanceof HTMLHeadingElement) head.append(title);
  head.append(row);
}
