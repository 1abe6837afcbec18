// What the server sends: the events of `crates/session/src/web`. Times of requests are in nanoseconds, all others in seconds.

export interface Hello {
  title: string;
  command: string;
  /** When the run began: milliseconds since 1970. */
  began: number;
  /** How long it lasts; null where that is open. */
  duration: number | null;
  /** What of its load the page may change besides pausing it; null for nothing at all. */
  control: "rate" | "users" | null;
  /** Whether moments of it can be marked. */
  marks: boolean;
  /** One run, or tables of something that has many. */
  kind: "run" | "tables";
}

/** The load at present. */
export interface Load {
  paused: boolean;
  /** Requests per second; null in a closed loop. */
  rate: number | null;
  /** null in an open loop. */
  users: number | null;
  /** Why the last change was refused. */
  refused: string | null;
}

/** What happened in one period. */
export interface Period {
  from: number;
  to: number;
  /** Requests that fell due; null where the load has no rate. */
  due: number | null;
  sent: number;
  ended: number;
  ok: number;
  underWay: number;
  bytes: number;
  /** Time of CPU that the generator used. */
  cpu: number;
  /** Row, count, row, count, …: see `rowTop`. */
  heat: number[];
  /** p50, p90, p95, p99 and the maximum. */
  times: number[] | null;
  /** What was read of the servers, in the order of their lines; null where nothing was. */
  server: (number | null)[];
}

/** A line of the server's charts. */
export type ServerLine = [string, "processors" | "memory"];
/** Milliseconds since 1970, and what was printed. */
export type LogLine = [number, string];

/** Name, requests, failed, mean, p50, p95, p99, maximum. */
export type GroupRow = [string, number, number, number, number, number, number, number];
/** Name, requests, failed, seconds, times, valid. */
export type EndedRow = [string, number, number, number, number[], boolean];

export interface Table {
  title: string;
  columns: string[];
  rows: (string | number)[][];
}

/** What a page of tables shows. */
export interface Progress {
  elapsed: number;
  phase: "running" | "draining" | "ended";
  /** The share that is done; a run's bar goes by its duration. */
  done?: number;
  /** What the command adds. */
  more: { tiles?: [string, string][]; tables?: Table[] } | null;
}

export interface State extends Progress {
  requests: number;
  failed: number;
  bytes: number;
  /** Mean, p50, p90, p95, p99 and the maximum. */
  times: number[];
  verdict: { valid: boolean; reasons: string[] };
  statuses: [number | string, number][];
  failures: [string, number][];
  errors: [string, number][];
  errorsMore: number;
  groups: GroupRow[];
  groupsMore: number;
  /** Titles and groups of a script's tags that have more than one value. */
  byTag: [string, GroupRow[]][];
  generator: { workers: number; busiest: number; lag: [number, number]; notSent: number; connections: number; io: string };
  /** Moments that were marked, and changes of the load. */
  marks: [number, string][];
  /** null where the page may not change it. */
  load: Load | null;
  /** null where no server is watched. */
  server: { lines: ServerLine[]; tables: Table[] } | null;
}

/** A row of the heat map is so many times as high as the one below it; row 0 begins at a microsecond. */
const ROW = 1.05;

/** Where a row ends, in milliseconds. */
export function rowTop(row: number): number {
  return ROW ** (row + 1) / 1000;
}

/** Where a row begins, in milliseconds. */
export function rowBottom(row: number): number {
  return ROW ** row / 1000;
}
