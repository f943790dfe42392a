import { describe, expect, test } from "vitest";
import { label, short } from "../src/admin/chart.js";
import { Figures, GRAPHS, KEPT_MS, scale, type Unit } from "../src/admin/figures.js";
import type { Status } from "../src/admin/requests.js";

function status(uptime: number, more: Partial<Status> = {}): Status {
  return {
    version: "1",
    uptime_seconds: uptime,
    cpu_seconds: uptime / 4,
    rss_bytes: 1e6,
    connections: 2,
    rooms: 1,
    participants: 2,
    messages_in: uptime * 10,
    deliveries: uptime * 20,
    bytes_in_before: 0,
    bytes_in_after: 0,
    bytes_out_before: 0,
    bytes_out_after: 0,
    room_memory_bytes: 5,
    store: { commits: uptime * 3, live_bytes: 7, state: "ok" },
    ...more,
  };
}

function values(figures: Figures, graph: string, line = 0): (number | undefined)[] {
  const found = GRAPHS.find(({ id }) => id === graph)?.lines[line];
  return found ? figures.points(found).map(({ value }) => value) : [];
}

describe("figures over time", () => {
  test("counters become rates, and levels stay", () => {
    const figures = new Figures();
    for (const uptime of [10, 12, 14]) figures.take(uptime * 1000, status(uptime));
    expect(values(figures, "messages")).toEqual([10, 10]);
    expect(values(figures, "messages", 1)).toEqual([20, 20]);
    expect(values(figures, "cpu")).toEqual([25, 25]);
    expect(values(figures, "people")).toEqual([2, 2]);
    expect(values(figures, "store")).toEqual([3, 3]);
  });

  test("a server that was started again begins anew, and what it does not know is a gap", () => {
    const figures = new Figures();
    figures.take(1000, status(500));
    figures.take(3000, status(1));
    expect(values(figures, "messages")).toEqual([]);
    figures.take(5000, status(3, { cpu_seconds: null, store: null }));
    expect(values(figures, "messages")).toEqual([10]);
    expect(values(figures, "cpu")).toEqual([undefined]);
    expect(values(figures, "store")).toEqual([undefined]);
  });

  test("old reports are dropped", () => {
    const figures = new Figures();
    for (let second = 0; second < 3000; second += 2) figures.take(second * 1000, status(second + 1));
    expect(values(figures, "messages").length).toBe(KEPT_MS / 2000);
  });
});

test("what the server has kept comes before its first report, also if it was started again meanwhile", () => {
  const figures = new Figures();
  expect(figures.isNew(status(31))).toBe(true);
  figures.restore(100_000, status(31), [status(0), status(10), status(20), status(30.5)]);
  figures.take(100_000, status(31));
  const [graph] = GRAPHS.filter(({ id }) => id === "messages");
  const points = graph?.lines[0] ? figures.points(graph.lines[0]) : [];
  // The last sample is too close to the report for rates.
  expect(points.map(({ at }) => at)).toEqual([79_000, 89_000, 100_000]);
  expect(values(figures, "messages")).toEqual([10, 10, 10]);
  expect(figures.isNew(status(33))).toBe(false);
  expect(figures.isNew(status(5))).toBe(true);
  figures.restore(200_000, status(5), [status(0)]);
  figures.take(200_000, status(5));
  expect(values(figures, "messages")).toEqual([10]);
});

describe("axes", () => {
  test("scales end at round numbers, also of bytes", () => {
    expect(scale(3, "count")).toEqual({ top: 4, ticks: [0, 2, 4] });
    expect(scale(0, "per second").top).toBe(1);
    expect(scale(4321, "per second").top).toBe(5000);
    expect(scale(3000, "bytes").top).toBe(4096);
    expect(scale(1023, "bytes").top).toBe(1024);
  });

  test("no two lines of an axis have the same label, and each label is true", () => {
    const factors: Record<string, number> = { k: 1e3, M: 1e6, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };
    const parsed = (text: string): number => {
      const [digits = "", unit = ""] = text.replaceAll(",", "").split(" ");
      return Number(digits) * (factors[unit] ?? 1);
    };
    for (const unit of ["count", "per second", "bytes", "bytes per second", "percent"] as Unit[]) {
      for (let most = 0; most < 1e9; most = Math.max(most + 1, Math.floor(most * 1.07))) {
        const { top, ticks } = scale(most, unit);
        expect(top).toBeGreaterThanOrEqual(most);
        expect(
          ticks.map((tick) => parsed(label(tick, unit))),
          `${most} ${unit}`,
        ).toEqual(ticks);
      }
    }
  });
});

test("numbers are short", () => {
  expect(short(0, 1000, ["", "k"])).toBe("0");
  expect(short(12.34, 1000, ["", "k"])).toBe("12.3");
  expect(short(2048, 1024, ["B", "KiB"])).toBe("2.0 KiB");
  expect(short(5e9, 1000, ["", "k", "M"])).toBe("5000 M");
});
