/**
 * The server's figures over the last minutes: those that the server has kept, then the reports that
 * the page polls.
 */

import type { Sample, Status } from "./requests.js";

/** How long figures are kept, in milliseconds. */
export const KEPT_MS = 10 * 60_000;

/**
 * What charts span, in milliseconds: the shortest that holds all reports, so that those of a young
 * server fill the chart.
 */
const SPANS_MS = [60_000, 2 * 60_000, 5 * 60_000, KEPT_MS];

/**
 * A shorter time (seconds) between two reports gives no useful rates: the system counts processor
 * time in hundredths of a second.
 */
const SHORTEST = 1;

/** A line of a chart. */
export interface ChartLine {
  readonly name: string;
  /**
   * The figure at a report. `before` is the report before; rates are the difference per second
   * between the two.
   */
  readonly value: (now: Sample, before: Sample, seconds: number) => number | undefined;
}

export type Unit = "count" | "per second" | "bytes" | "bytes per second" | "percent";

/** The title, the unit and the lines of a chart. */
export interface Graph {
  readonly id: string;
  readonly title: string;
  readonly unit: Unit;
  readonly lines: readonly ChartLine[];
  /** False if the server does not have these figures. */
  readonly applies?: (status: Status) => boolean;
}

type Counter = {
  [K in keyof Sample]: Sample[K] extends number ? K : never;
}[keyof Sample];

const level = (name: string, field: Counter): ChartLine => ({ name, value: (now) => now[field] });
const perSecond = (name: string, field: Counter): ChartLine => ({
  name,
  value: (now, before, seconds) => (now[field] - before[field]) / seconds,
});

export const GRAPHS: readonly Graph[] = [
  {
    id: "people",
    title: "People and rooms",
    unit: "count",
    lines: [level("Connections", "connections"), level("Participants", "participants"), level("Open rooms", "rooms")],
  },
  {
    id: "messages",
    title: "Messages",
    unit: "per second",
    lines: [perSecond("Received", "messages_in"), perSecond("Delivered", "deliveries")],
  },
  {
    id: "in",
    title: "Bytes in",
    unit: "bytes per second",
    lines: [perSecond("Messages", "bytes_in_before"), perSecond("Packets", "bytes_in_after")],
  },
  {
    id: "out",
    title: "Bytes out",
    unit: "bytes per second",
    lines: [perSecond("Messages", "bytes_out_before"), perSecond("Packets", "bytes_out_after")],
  },
  {
    id: "cpu",
    title: "Processor",
    unit: "percent",
    lines: [
      {
        name: "Of one core",
        value: (now, before, seconds) =>
          now.cpu_seconds === null || before.cpu_seconds === null
            ? undefined
            : ((now.cpu_seconds - before.cpu_seconds) / seconds) * 100,
      },
    ],
    applies: ({ cpu_seconds }) => cpu_seconds !== null,
  },
  {
    id: "memory",
    title: "Memory",
    unit: "bytes",
    lines: [{ name: "Process", value: (now) => now.rss_bytes ?? undefined }, level("Rooms", "room_memory_bytes")],
  },
  {
    id: "store",
    title: "Store",
    unit: "per second",
    lines: [
      {
        name: "Commits",
        value: (now, before, seconds) =>
          now.store && before.store ? (now.store.commits - before.store.commits) / seconds : undefined,
      },
    ],
    applies: ({ store }) => store !== null,
  },
];

/** A figure at a time. */
export interface Point {
  readonly at: number;
  /** `undefined`: the figure is not known, so that the line has a gap. */
  readonly value: number | undefined;
}

export class Figures {
  private reports: { readonly at: number; readonly status: Sample }[] = [];

  get newest(): Sample | undefined {
    return this.reports.at(-1)?.status;
  }

  /**
   * True if no report of this server was taken yet. A server that was started again counts from 0.
   */
  isNew({ uptime_seconds }: Sample): boolean {
    return this.newest === undefined || uptime_seconds < this.newest.uptime_seconds;
  }

  /** Takes a report that came at this time, in milliseconds. */
  take(at: number, status: Sample): void {
    if (this.isNew(status)) this.reports = [];
    this.reports.push({ at, status });
    while ((this.reports[0]?.at ?? at) < at - KEPT_MS) this.reports.shift();
  }

  /**
   * Begins with the samples that the server has kept before its report `status`, which came at this
   * time.
   */
  restore(at: number, status: Sample, samples: readonly Sample[]): void {
    this.reports = [];
    const age = ({ uptime_seconds }: Sample): number => status.uptime_seconds - uptime_seconds;
    for (const sample of samples) if (age(sample) >= SHORTEST) this.take(at - 1000 * age(sample), sample);
  }

  /** The time that charts span, in milliseconds. */
  span(now: number): number {
    const age = now - (this.reports[0]?.at ?? now);
    return SPANS_MS.find((span) => span >= age) ?? KEPT_MS;
  }

  /** The points of a line, the oldest first. */
  points({ value }: ChartLine): Point[] {
    const points: Point[] = [];
    for (const [i, { at, status }] of this.reports.entries()) {
      const before = this.reports[i - 1];
      if (!before) continue;
      const seconds = status.uptime_seconds - before.status.uptime_seconds;
      if (seconds > 0) points.push({ at, value: value(status, before.status, seconds) });
    }
    return points;
  }
}

/** The lowest top of a scale, so that a quiet server is not magnified. */
const LEAST: Readonly<Record<Unit, number>> = {
  count: 2,
  "per second": 1,
  bytes: 1024,
  "bytes per second": 128,
  percent: 1,
};

/**
 * The round numbers at which a scale can end, in units of a power of the base. Those of counts and
 * of bytes are even, because their middle has to be a whole number, too.
 */
const STEPS = {
  whole: [2, 4, 6, 8, 10, 20, 40, 60, 80, 100, 200, 400, 600, 800, 1000],
  parts: [1, 2, 4, 5, 10, 20, 40, 50, 100, 200, 400, 500, 1000],
  binary: [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024],
} as const;

/**
 * The scale of a chart for values up to `most`: its top, and the values at which it has a line, the
 * top among them.
 */
export function scale(most: number, unit: Unit): { readonly top: number; readonly ticks: readonly number[] } {
  const isBinary = unit.startsWith("bytes");
  const [base, steps] = isBinary ? [1024, STEPS.binary] : [1000, unit === "count" ? STEPS.whole : STEPS.parts];
  const needed = Math.max(most, LEAST[unit]);
  let factor = 1;
  while (needed / factor > base) factor *= base;
  const top = factor * (steps.find((step) => step * factor >= needed) ?? base);
  return { top, ticks: [0, top / 2, top] };
}
