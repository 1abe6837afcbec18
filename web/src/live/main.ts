// The live page of a run: it follows the events of `crates/session/src/web`, and draws once a frame of the screen at most.

import "../style.css";
import "./live.css";
import { follow } from "../scroll";
import { Charts } from "./charts";
import { Controls } from "./controls";
import { Head } from "./head";
import { History } from "./history";
import { make } from "./page";
import type { EndedRow, Hello, LogLine, Period, State } from "./run";
import { Tables } from "./tables";
import { Tiles } from "./tiles";

class Page {
  private readonly history = new History();
  private readonly controls = new Controls(location.search);
  private readonly head = new Head(this.controls.place, () => this.draw());
  private readonly tiles = new Tiles();
  private readonly charts = new Charts(this.history);
  private readonly tables = new Tables();
  private state: State | undefined;
  private kind: Hello["kind"] = "run";
  private isAsked = false;

  constructor(place: HTMLElement) {
    const hint = make("p", "faint hint", "Drag over a chart to zoom, double-click to see all; in a chart, arrow keys read it and + and - zoom.");
    const footer = make("footer", "", hint);
    place.append(this.head.place, this.tiles.place, ...this.charts.places, this.tables.place, footer);
    this.charts.begin();
    follow(place.querySelectorAll<HTMLElement>(".scroll"));
  }

  listen(events: EventSource): void {
    const on = (name: string, act: (data: never) => void) =>
      events.addEventListener(name, (event) => {
        act(JSON.parse((event as MessageEvent<string>).data) as never);
        this.ask();
      });
    on("hello", (hello: Hello | null) => {
      this.history.periods = [];
      if (!hello) return;
      this.kind = hello.kind;
      for (const one of this.charts.places.slice(0, 2)) one.hidden = hello.kind === "tables";
      this.head.greet(hello);
      this.controls.greet(hello);
    });
    on("history", (periods: Period[]) => (this.history.periods = periods));
    on("frame", (period: Period) => this.history.push(period));
    on("state", (state: State | null) => (this.state = state ?? this.state));
    on("log", (lines: LogLine[]) => this.tables.addLog(lines));
    on("logged", (lines: LogLine[]) => this.tables.setLog(lines));
    on("ended", (rows: EndedRow[]) => this.tables.setEnded(rows));
    on("end", () => {
      events.close();
      this.controls.disable();
    });
    events.addEventListener("error", () => {
      if (this.state?.phase === "ended") events.close();
      else this.head.lose();
      this.controls.disable();
    });
    events.addEventListener("open", () => this.controls.enable(false));
  }

  /** Has the page drawn before the screen shows its next frame: a page that is not seen draws nothing. */
  private ask(): void {
    if (this.isAsked) return;
    this.isAsked = true;
    requestAnimationFrame(() => {
      this.isAsked = false;
      this.draw();
    });
  }

  private draw(): void {
    const { state } = this;
    if (state && this.kind === "tables") {
      this.head.setProgress(state);
      this.tiles.setMore(state);
      this.tables.setMore(state, this.head.began(), this.head.zone);
      if (state.phase !== "ended") this.controls.enable(false);
      return;
    }
    if (state) {
      this.head.set(state);
      this.charts.setServer(state.server?.lines ?? []);
      this.tiles.set(state);
      this.tables.set(state, this.head.began(), this.head.zone);
      this.charts.mark(state.marks.map(([at]) => at));
      if (state.phase !== "ended") this.controls.enable(state.phase === "draining");
      this.controls.set(state);
    }
    this.charts.update();
  }
}

document.documentElement.classList.add("live");
const place = document.getElementById("live");
if (place) new Page(place).listen(new EventSource(`/events${location.search}`));
