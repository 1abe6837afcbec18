// Series over one common x. Several points of a series at one x all stand, which uPlot's own join would make one of.

import type uPlot from "uplot";

export interface Table {
  /** Rising; a value may stand several times. */
  x: number[];
  y: (number | null)[];
}

/** All tables over the x of them all; an x stands as often as in the table that has it most often. */
export function joined(tables: Table[]): uPlot.AlignedData {
  const most = new Map<number, number>();
  for (const { x } of tables) {
    for (let at = 0; at < x.length; ) {
      const value = x[at] as number;
      const count = alike(x, at);
      most.set(value, Math.max(count, most.get(value) ?? 0));
      at += count;
    }
  }
  const values = [...most.keys()].sort((a, b) => a - b);
  const begins = new Map<number, number>();
  const all: number[] = [];
  for (const value of values) {
    begins.set(value, all.length);
    for (let n = most.get(value) ?? 0; n > 0; n -= 1) all.push(value);
  }
  return [all, ...tables.map((table) => spread(table, begins, all.length))];
}

/** How many values from `at` on are the one there. */
function alike(x: number[], at: number): number {
  let to = at + 1;
  while (to < x.length && x[to] === x[at]) to += 1;
  return to - at;
}

/** A table's values at their places among `length`; what it does not have is undefined. */
function spread(table: Table, begins: Map<number, number>, length: number): (number | null | undefined)[] {
  const y: (number | null | undefined)[] = Array(length).fill(undefined);
  let nth = 0;
  table.x.forEach((x, at) => {
    nth = at > 0 && table.x[at - 1] === x ? nth + 1 : 0;
    y[(begins.get(x) ?? 0) + nth] = table.y[at];
  });
  return y;
}
