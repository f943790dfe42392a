import { beforeEach, describe, expect, test, vi } from "vitest";
import type { Problem } from "../src/api.js";
import { Outage } from "../src/outage.js";

const UNREACHABLE: Problem = { code: "unreachable", message: "Nothing answers." };
const OFFLINE: Problem = { code: "offline", message: "This device is offline." };
const FOREIGN: Problem = { code: "not-groupwire", message: "Something else answers." };
const BLOCKED: Problem = { code: "blocked", message: "The server answers, but no connection opens." };

beforeEach(() => {
  vi.useFakeTimers();
  return () => vi.useRealTimers();
});

/**
 * A session whose rounds the test fails; it dials again a second after each of them, as the core
 * does.
 */
class World {
  /** The result of the next diagnosis. */
  found: Problem = UNREACHABLE;
  looks = 0;
  readonly told: (Problem | undefined)[] = [];
  readonly rounds: ("all" | "one" | "fail")[] = [];
  /** Rounds that try transports fail at once. */
  fails = true;
  readonly outage: Outage;

  constructor(sparesRequests = true) {
    this.outage = new Outage({
      sparesRequests,
      clock: {
        now: () => Date.now(),
        after: (ms, run) => {
          const timer = setTimeout(run, ms);
          return () => clearTimeout(timer);
        },
      },
      diagnose: () => {
        this.looks += 1;
        return Promise.resolve(this.found);
      },
      changed: (problem) => this.told.push(problem),
    });
  }

  dial(): void {
    const tries = (kind: "all" | "one") => (): void => {
      this.rounds.push(kind);
      if (!this.fails) return;
      this.outage.failed(kind === "all", "WebSocket was refused");
      setTimeout(() => this.dial(), 1000);
    };
    const fail = (): void => {
      this.rounds.push("fail");
      setTimeout(() => this.dial(), 1000);
    };
    this.outage.begin({ all: tries("all"), one: tries("one"), fail });
  }
}

const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

describe("what the application is told", () => {
  test("the problem after the first round that failed, once, and its end when the session has joined", async () => {
    const it = new World();
    it.dial();
    expect(it.told).toEqual([]);
    await pass(20_000);
    expect(it.told).toEqual([UNREACHABLE]);
    expect(it.outage.problem).toEqual(UNREACHABLE);
    it.outage.over();
    expect(it.told).toEqual([UNREACHABLE, undefined]);
    expect(it.outage.problem).toBeUndefined();
  });

  test("another problem when the cause changes", async () => {
    const it = new World();
    it.dial();
    await pass(5000);
    it.found = OFFLINE;
    await pass(5000);
    expect(it.told).toEqual([UNREACHABLE, OFFLINE]);
  });

  test("a server that answers right after a failed round may have just started, and is blocked if all fail again", async () => {
    const it = new World();
    it.found = BLOCKED;
    it.dial();
    await pass(900);
    expect(it.told).toEqual([]);
    await pass(1000);
    expect(it.told).toEqual([BLOCKED]);
  });

  test("nothing after the session has joined while a diagnosis was under way", async () => {
    const it = new World();
    it.dial();
    it.outage.over();
    await pass(100);
    expect(it.told).toEqual([]);
  });
});

describe("what is tried", () => {
  test("one request a round while nothing answers, in turns for the server's transports and by one of them", async () => {
    const it = new World();
    it.dial();
    await pass(4500);
    expect(it.rounds).toEqual(["all", "fail", "one", "fail", "one"]);
    expect(it.looks).toBe(3);
  });

  test("all transports as soon as the server answers", async () => {
    const it = new World();
    it.dial();
    await pass(500);
    it.found = BLOCKED;
    it.fails = false;
    await pass(1000);
    expect(it.rounds).toEqual(["all", "all"]);
  });

  test("all transports in each round while the server answers", async () => {
    const it = new World();
    it.found = BLOCKED;
    it.dial();
    await pass(3500);
    expect(it.rounds).toEqual(["all", "all", "all", "all"]);
  });

  test("rarely, after growing pauses, while somebody has to change something", async () => {
    const it = new World();
    it.found = FOREIGN;
    it.dial();
    await pass(600_000);
    // 2 + 4 + 8 + 16 + 32 s, then a minute each.
    expect(it.rounds.length).toBeGreaterThanOrEqual(12);
    expect(it.rounds.length).toBeLessThanOrEqual(16);
  });

  test("at once when the network may have changed", async () => {
    const it = new World();
    it.found = FOREIGN;
    it.dial();
    // The second round pauses for two seconds.
    await pass(1500);
    expect(it.rounds).toEqual(["all"]);
    it.outage.hint();
    await pass(0);
    expect(it.rounds).toEqual(["all", "fail"]);
  });

  test("nothing more in a round that waits when a transport opens", async () => {
    const it = new World();
    it.found = FOREIGN;
    it.dial();
    await pass(1500);
    it.outage.opened();
    await pass(600_000);
    expect(it.rounds).toEqual(["all"]);
  });

  test("everything in every round where nobody sees failed requests", async () => {
    const it = new World(false);
    it.dial();
    await pass(3500);
    expect(it.rounds).toEqual(["all", "all", "all", "all"]);
    expect(it.told).toEqual([UNREACHABLE]);
  });
});
