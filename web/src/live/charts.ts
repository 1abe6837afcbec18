// The charts of a run: their figures are filled anew from its periods.

import type { Chart } from "../chart";
import { shape } from "../element";
import { enliven } from "../enliven";
import type { Figure, Scale, Series } from "../figure";
import { HeatMap } from "./heat";
import { type History, fastest, times } from "./history";
import { card, make } from "./page";
import type { Period, ServerLine } from "./run";

const TIME = "Time since the start (s)";

interface Line {
  label: string;
  colour: string;
  dash?: string;
  style?: Series["style"];
  value(period: Period): number | null;
}

interface Drawn {
  chart: Chart;
  lines: Line[];
}

/** Per second. */
function rate(count: number | null, period: Period): number | null {
  return count === null || period.to <= period.from ? null : count / (period.to - period.from);
}

const RATES: Line[] = [
  { label: "due", colour: "calm5", dash: "6 4", value: (period) => rate(period.due, period) },
  { label: "sent", colour: "calm1", value: (period) => rate(period.sent, period) },
  { label: "answered", colour: "calm0", value: (period) => rate(period.ended, period) },
  { label: "failed", colour: "alarm0", value: (period) => rate(period.ended - period.ok, period) },
];
const TIMES: Line[] = [
  { label: "max", colour: "alarm0", value: (period) => times(period)[3] ?? null },
  { label: "p99", colour: "calm7", value: (period) => times(period)[2] ?? null },
  { label: "p95", colour: "calm2", value: (period) => times(period)[1] ?? null },
  { label: "p50", colour: "calm0", value: (period) => times(period)[0] ?? null },
  { label: "fastest", colour: "calm5", dash: "2 3", value: fastest },
];
const UNDER_WAY: Line[] = [{ label: "under way", colour: "calm0", style: "area", value: (period) => period.underWay }];
const CPU: Line[] = [
  { label: "CPU", colour: "calm3", style: "area", value: (period) => rate(period.cpu * 100, period) },
];

/** Lines of a chart of the server; those without a name do not show. */
const SERVER_COLOURS = ["calm0", "alarm0", "calm2", "calm5", "calm7", "calm1", "calm3", "calm4"];

export class Charts {
  readonly places: HTMLElement[] = [make("div", "pair"), make("div", "pair"), make("div", "pair")];
  private readonly drawn: Drawn[] = [];
  private readonly server = new Map<ServerLine[1], { chart: Chart; lines: Line[]; place: HTMLElement }>();
  private marks: number[] = [];

  constructor(private readonly history: History) {}

  /** The charts need the width of the page: they are made when their places are in it. */
  begin(): void {
    const [first, second, third] = this.places as [HTMLElement, HTMLElement, HTMLElement];
    this.add(first, "Requests per second", "requests/s", "linear", RATES);
    const latency = this.add(first, "Response time: all answers, and percentiles of each period", "ms", "log", TIMES);
    const heat = new HeatMap(latency.place, this.history);
    latency.chart.beneath = (frame) => heat.draw(frame);
    this.add(second, "Requests under way", "requests", "linear", UNDER_WAY);
    this.add(second, "CPU of the load generator", "% of one core", "linear", CPU);
    const unnamed = () => SERVER_COLOURS.map((colour): Line => ({ label: "", colour, value: () => null }));
    for (const [kind, title, unit] of [
      ["processors", "Processors of the server", "cores, or load"],
      ["memory", "Memory of the server", "MiB"],
    ] as const) {
      const lines = unnamed();
      this.server.set(kind, { ...this.add(third, title, unit, "linear", lines), lines });
    }
    third.hidden = true;
    this.setServer([]);
  }

  /** Draws these lines of the server. */
  setServer(all: ServerLine[]): void {
    const third = this.places[2] as HTMLElement;
    if (third.hidden !== (all.length === 0)) third.hidden = all.length === 0;
    for (const [kind, { chart, lines, place }] of this.server) {
      const numbered = all.map(([label, of], number) => ({ label, of, number })).filter(({ of }) => of === kind);
      lines.forEach((line, at) => {
        const { label = "", number = -1 } = numbered[at] ?? {};
        const item = place.querySelectorAll<HTMLElement>(".legend > li")[at] as HTMLElement;
        item.hidden = number < 0;
        line.value = (period) => period.server[number] ?? null;
        if (line.label === label) return;
        line.label = label;
        (chart.figure.series[at] as Series).label = label;
        (item.querySelector("span") as HTMLElement).textContent = label;
      });
    }
  }

  private add(row: HTMLElement, title: string, unit: string, scale: Scale, lines: Line[]): { chart: Chart; place: HTMLElement } {
    const series = lines.map(({ label, colour, style = "line", dash }) => {
      const one: Series = { label, colour, style, x: [], y: [] };
      return dash ? { ...one, dash } : one;
    });
    const uprights: Series = { label: "marks", colour: "alarm2", style: "dashes", x: [], y: [] };
    const figure: Figure = { title, x: { label: TIME, scale: "linear" }, y: { label: unit, scale }, series: [...series, uprights] };
    const place = make("div", "chart", make("ul", "legend", ...figure.series.map(entry)));
    row.append(card(title, place));
    const chart = enliven(figure, place, true);
    // A picture made by the chart itself is not in its place yet.
    if (!chart.picture.isConnected) place.prepend(chart.picture);
    this.drawn.push({ chart, lines });
    return { chart, place };
  }

  /** Draws vertical lines here, in seconds since the start. */
  mark(marks: number[]): void {
    this.marks = marks;
  }

  update(): void {
    const { periods } = this.history;
    const x = periods.map((period) => period.to);
    for (const { chart, lines } of this.drawn) {
      lines.forEach((line, at) => {
        const series = chart.figure.series[at] as Series;
        series.x = x;
        series.y = periods.map(line.value);
      });
      const uprights = chart.figure.series[lines.length] as Series;
      uprights.x = this.marks;
      chart.update();
    }
  }
}

/** The entry of a series in a legend. */
function entry({ label, colour, dash, style }: Series): HTMLElement {
  const sample = shape("svg", { width: 22, height: 14, "aria-hidden": "true" });
  const upright = style === "dashes";
  const line = shape("path", { d: upright ? "M11 0V14" : "M1 7H21", stroke: `var(--${colour})`, "stroke-width": upright ? 1.8 : 2.5 });
  const pattern = upright ? "3 2" : dash;
  if (pattern) line.setAttribute("stroke-dasharray", pattern);
  sample.append(line);
  return make("li", "", sample, make("span", "", label));
}
