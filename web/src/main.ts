// Draws the figures of a page into its places: <div class="chart" data-figure="N">.

import "uplot/dist/uPlot.min.css";
import "./style.css";
import type uPlot from "uplot";
import { draw } from "./chart";
import { type Figure, figures } from "./figure";
import { save } from "./picture";

const darkness = matchMedia("(prefers-color-scheme: dark)");

class Chart {
  private readonly tools = document.createElement("div");
  private readonly canvas = document.createElement("div");
  private plot: uPlot | undefined;
  private logY: boolean;

  constructor(
    private readonly figure: Figure,
    private readonly place: HTMLElement,
  ) {
    this.logY = figure.y.scale === "log";
    this.tools.className = "tools";
    this.canvas.className = "canvas";
    this.addTools();
    place.replaceChildren(this.canvas);
    this.addHead();
    this.draw();
    new ResizeObserver(() => this.resize()).observe(place);
    darkness.addEventListener("change", () => this.draw());
  }

  // Title and buttons share a line where both fit, and have one each where they do not.
  private addHead(): void {
    const head = document.createElement("div");
    head.className = "head";
    const title = this.place.previousElementSibling;
    this.place.before(head);
    if (title instanceof HTMLHeadingElement) head.append(title);
    head.append(this.tools);
  }

  private addTools(): void {
    this.addTool("Reset zoom", () => this.draw());
    if (this.figure.y.scale === "log") {
      const toggle = this.addTool("Log scale", () => {
        this.logY = !this.logY;
        toggle.setAttribute("aria-pressed", String(this.logY));
        this.draw();
      });
      toggle.setAttribute("aria-pressed", String(this.logY));
    }
    this.addTool("Save PNG", () => {
      if (this.plot) save(this.figure, this.plot, darkness.matches);
    });
  }

  private addTool(text: string, act: () => void): HTMLButtonElement {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.addEventListener("click", act);
    this.tools.append(button);
    return button;
  }

  private width(): number {
    return Math.max(240, this.place.clientWidth);
  }

  private height(): number {
    const wanted = this.place.classList.contains("tall") ? innerHeight - 260 : 280;
    return Math.max(240, wanted);
  }

  private draw(): void {
    this.plot?.destroy();
    const look = { dark: darkness.matches, logY: this.logY, width: this.width(), height: this.height() };
    this.plot = draw(this.figure, this.canvas, look);
  }

  private resize(): void {
    if (this.plot && this.plot.width !== this.width()) {
      this.plot.setSize({ width: this.width(), height: this.height() });
    }
  }
}

const list = figures();
for (const place of document.querySelectorAll<HTMLElement>(".chart[data-figure]")) {
  const figure = list[Number(place.dataset["figure"])];
  if (figure) new Chart(figure, place);
}
