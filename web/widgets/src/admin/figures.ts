/** The server's figures over the last minutes, from the reports that the page polls. */

import type { Status } from "./requests.js";

/** How long figures are kept, in milliseconds. */
export const KEPT_MS = 10 * 60_000;

/** What charts span, in milliseconds: the shortest that holds all reports, so that a page that was just opened shows something. */
const SPANS_MS = [60_000, 2 * 60_000, 5 * 60_000, KEPT_MS];

/** A line of a chart. */
export interface Line {
  readonly name: string;
  /** The figure at a report. `before` is the report before; rates are the difference per second between the two. */
  readonly value: (now: Status, before: Status, seconds: number) => number | undefined;
}

/** What a chart shows. */
export interface Graph {
  readonly id: string;
  readonly title: string;
  readonly unit: "count" | "per second" | "bytes" | "bytes per second" | "percent";
  readonly lines: readonly Line[];
  /** False if the server does not have these figures. */
  readonly applies?: (status: Status) => boolean;
}

type Counter = {
  [K in keyof Status]: Status[K] extends number ? K : never;
}[keyof Status];

const level = (name: string, field: Counter): Line => ({ name, value: (now) => now[field] });
const perSecond = (name: string, field: Counter): Line => ({
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
  private reports: { readonly at: number; readonly status: Status }[] = [];

  get newest(): Status | undefined {
    return this.reports.at(-1)?.status;
  }

  /** Takes a report that came at this time, in milliseconds. */
  take(at: number, status: Status): void {
    // A server that was started again counts from 0.
    if (this.newest && status.uptime_seconds < this.newest.uptime_seconds) this.reports = [];
    this.reports.push({ at, status });
    while ((this.reports[0]?.at ?? at) < at - KEPT_MS) this.reports.shift();
  }

  /** The time that charts span, in milliseconds. */
  span(now: number): number {
    const age = now - (this.reports[0]?.at ?? now);
    return SPANS_MS.find((span) => span >= age) ?? KEPT_MS;
  }

  /** The points of a line, the oldest first. */
  points({ value }: Line): Point[] {
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

/** The top of a scale for values up to `most`, and the values at which it has a line, the top among them. */
export function scale(most: number, binary: boolean): { readonly top: number; readonly ticks: readonly number[] } {
  const base = binary ? 1024 : 1000;
  let unit = 1;
  while (most / unit >= base) unit *= base;
  const steps = binary
    ? [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]
    : [1, 2, 4, 5, 10, 20, 40, 50, 100, 200, 400, 500, 1000];
  const top = unit * (steps.find((step) => step * unit >= most) ?? base);
  return { top, ticks: [0, top / 2, top] };
}
