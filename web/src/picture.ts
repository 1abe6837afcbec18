// Saving a chart as PNG: title, legend and chart on one ground.

import type uPlot from "uplot";
import type { Figure } from "./figure";

/** Offers the chart as it is now for saving. */
export function save(figure: Figure, plot: uPlot, dark: boolean): void {
  const source = plot.ctx.canvas;
  const scale = source.width / plot.width;
  const rows = legendRows(figure, plot.width);
  const head = 44 + rows * 20;
  const canvas = document.createElement("canvas");
  canvas.width = source.width;
  canvas.height = source.height + head * scale;
  const pen = canvas.getContext("2d");
  if (!pen) return;
  pen.fillStyle = dark ? "#14181d" : "#ffffff";
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(source, 0, head * scale);
  pen.scale(scale, scale);
  pen.fillStyle = dark ? "#e8ecf1" : "#161b22";
  pen.font = "600 15px system-ui, sans-serif";
  pen.fillText(figure.title, 14, 26);
  legend(pen, figure, plot.width, dark);
  canvas.toBlob((blob) => {
    if (!blob) return;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = fileName(figure.title);
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }, "image/png");
}

function fileName(title: string): string {
  const name = title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "");
  return (name || "chart").slice(0, 60) + ".png";
}

function places(figure: Figure, width: number): { x: number; row: number }[] {
  let [x, row] = [14, 0];
  return figure.series.map((series) => {
    const room = 24 + series.label.length * 7 + 16;
    if (x > 14 && x + room > width) [x, row] = [14, row + 1];
    const place = { x, row };
    x += room;
    return place;
  });
}

function legendRows(figure: Figure, width: number): number {
  return 1 + Math.max(0, ...places(figure, width).map((place) => place.row));
}

function legend(pen: CanvasRenderingContext2D, figure: Figure, width: number, dark: boolean): void {
  pen.font = "12px system-ui, sans-serif";
  places(figure, width).forEach(({ x, row }, index) => {
    const series = figure.series[index];
    if (!series) return;
    const y = 50 + row * 20;
    pen.fillStyle = dark ? series.dark : series.light;
    if (series.style === "points") {
      pen.beginPath();
      pen.arc(x + 7, y - 5, 4, 0, 2 * Math.PI);
      pen.fill();
    } else {
      pen.fillRect(x, y - 7, 14, 4);
    }
    pen.fillStyle = dark ? "#c3cbd5" : "#39424e";
    pen.fillText(series.label, x + 20, y);
  });
}
