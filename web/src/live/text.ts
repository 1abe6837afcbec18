// Numbers as the page writes them.

const count = new Intl.NumberFormat("en");

export function whole(value: number): string {
  return count.format(Math.round(value));
}

/** A time of requests, given in nanoseconds. */
export function time(ns: number): string {
  if (ns >= 1e9) return `${digits(ns / 1e9)} s`;
  if (ns >= 1e6) return `${digits(ns / 1e6)} ms`;
  return `${digits(ns / 1e3)} \u00b5s`;
}

/** A stretch of the run, given in seconds. */
export function stretch(seconds: number): string {
  if (seconds < 60) return `${digits(seconds)} s`;
  const all = Math.round(seconds);
  const [hours, minutes, rest] = [Math.floor(all / 3600), Math.floor(all / 60) % 60, all % 60];
  const two = (value: number) => String(value).padStart(2, "0");
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)} h` : `${minutes}:${two(rest)} min`;
}

export function bytes(value: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let at = 0;
  while (value >= 1000 && at + 1 < units.length) [value, at] = [value / 1000, at + 1];
  return `${digits(value)} ${units[at]}`;
}

/** The share of a whole in per cent; small shares are never shown as none. */
export function share(part: number, all: number): string {
  if (all === 0) return "0 %";
  const value = (part / all) * 100;
  if (value > 0 && value < 0.01) return "< 0.01 %";
  if (value > 99.99 && value < 100) return "> 99.99 %";
  return `${Number(value.toFixed(2))} %`;
}

/** Three digits. */
export function digits(value: number): string {
  return Math.abs(value) >= 1000 ? whole(value) : String(Number(value.toPrecision(3)));
}

export type Zone = "elapsed" | "local" | "utc";

/** A moment of the run, `at` seconds after its beginning. */
export function moment(at: number, began: number, zone: Zone): string {
  if (zone === "elapsed") return stretch(at);
  const options: Intl.DateTimeFormatOptions = { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false };
  if (zone === "utc") options.timeZone = "UTC";
  return new Intl.DateTimeFormat("en-GB", options).format(began + at * 1000) + (zone === "utc" ? " UTC" : "");
}
