// The periods of a run, bounded as the server's are: where there are too many, old ones are merged in pairs.

import { type Period, rowBottom, rowTop } from "./run";

/** Half an hour of seconds. */
const PERIODS_MAX = 1800;

export class History {
  periods: Period[] = [];

  push(period: Period): void {
    if (this.periods.length >= PERIODS_MAX) {
      const old = this.periods.splice(0, PERIODS_MAX / 2);
      const merged: Period[] = [];
      for (let at = 0; at + 1 < old.length; at += 2) merged.push(and(old[at] as Period, old[at + 1] as Period));
      this.periods = merged.concat(this.periods);
    }
    this.periods.push(period);
  }
}

function and(one: Period, next: Period): Period {
  return {
    from: one.from,
    to: next.to,
    due: one.due === null || next.due === null ? null : one.due + next.due,
    sent: one.sent + next.sent,
    ended: one.ended + next.ended,
    ok: one.ok + next.ok,
    underWay: next.underWay,
    bytes: one.bytes + next.bytes,
    cpu: one.cpu + next.cpu,
    heat: sum(one.heat, next.heat),
    times: null,
    server: means(one.server, next.server),
  };
}

function means(one: (number | null)[], next: (number | null)[]): (number | null)[] {
  const lines = [...Array(Math.max(one.length, next.length)).keys()];
  return lines.map((line) => {
    const [first, second] = [one[line] ?? null, next[line] ?? null];
    return first === null || second === null ? (first ?? second) : (first + second) / 2;
  });
}

function sum(one: number[], other: number[]): number[] {
  const counts = new Map<number, number>();
  for (const heat of [one, other]) {
    for (let at = 0; at < heat.length; at += 2) {
      const row = heat[at] as number;
      counts.set(row, (counts.get(row) ?? 0) + (heat[at + 1] as number));
    }
  }
  return [...counts].sort((a, b) => a[0] - b[0]).flat();
}

/** p50, p95, p99 and the maximum of a period in milliseconds; of merged periods to a row of the heat map. */
export function times(period: Period): (number | null)[] {
  if (period.times) {
    const [p50, , p95, p99, max] = period.times.map((time) => time / 1e6);
    return [p50 ?? null, p95 ?? null, p99 ?? null, max ?? null];
  }
  return [0.5, 0.95, 0.99, 1].map((q) => quantile(period, q));
}

function quantile(period: Period, q: number): number | null {
  let left = Math.ceil(period.ended * q);
  for (let at = 0; at < period.heat.length; at += 2) {
    left -= period.heat[at + 1] as number;
    if (left <= 0) return rowTop(period.heat[at] as number);
  }
  return null;
}

/** The fastest answer of a period in milliseconds, to a row of the heat map. */
export function fastest(period: Period): number | null {
  const row = period.heat[0];
  return row === undefined ? null : rowBottom(row);
}
