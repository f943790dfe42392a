import { describe, expect, test } from "vitest";
import { Live } from "../src/net/live";
import { Meter, SECONDS, spread } from "../src/net/meter";

const drag = { game: 0, piece: 3, x: 10, y: 20, gx: 5, gy: 6 };

describe("live drags", () => {
  const at = (now: number, index: number) => ({ now, age: 0, index, state: false });

  test("show the piece while it is moved, until it is dropped", () => {
    const live = new Live();
    live.receive(1, drag, at(0, 1));
    live.receive(1, { ...drag, x: 50 }, at(40, 2));
    expect(live.isMoving(50)).toBe(true);
    expect(live.views(400)).toEqual([{ ...drag, sender: 1, x: 50, y: 20, isOld: false }]);
    expect(live.isMoving(2000)).toBe(false);
    live.keep((sender) => sender !== 1);
    expect(live.views(400)).toEqual([]);
  });

  test("an overtaken position has no effect", () => {
    const live = new Live();
    live.receive(1, { ...drag, x: 50 }, at(0, 2 ** 32 - 1));
    live.receive(1, { ...drag, x: 90 }, at(10, 0));
    live.receive(1, { ...drag, x: 50, piece: 7 }, at(20, 2 ** 32 - 2));
    expect(live.views(500)).toMatchObject([{ piece: 3, x: 90 }]);
  });

  test("a participant holds one piece; after leaving or silence it holds none", () => {
    const live = new Live();
    live.receive(1, drag, at(0, 1));
    live.receive(1, { ...drag, piece: 4, x: 99 }, at(10, 2));
    expect(live.views(300)).toMatchObject([{ piece: 4, x: 99 }]);
    expect(live.views(60_000)).toEqual([]);
    live.keep((id) => id !== 1);
    expect(live.views(300)).toEqual([]);
  });

  test.each([undefined, 7, {}, { ...drag, piece: -1 }, { ...drag, x: "1" }, { ...drag, gy: 1e30 }])(
    "nonsense is not shown: %j",
    (value) => {
      const live = new Live();
      live.receive(1, value, at(0, 1));
      expect(live.views(100)).toEqual([]);
    },
  );
});

describe("the meter", () => {
  const stats = (sent: number, received: number) => ({
    transport: "websocket",
    sent: { messages: sent, packets: sent, bytesBefore: sent * 40, bytesAfter: sent * 10, bytesPayload: sent * 6 },
    received: {
      messages: received,
      packets: received,
      bytesBefore: received * 40,
      bytesAfter: received * 20,
      bytesPayload: received * 6,
    },
    roundTrip: 12,
    reconnects: 0,
    channels: new Map(),
  });

  test("jitter is the mean deviation from the mean", () => {
    expect(spread([10, 20, 30, 40])).toEqual({ latency: 25, jitter: 10 });
    expect(spread([])).toEqual({ latency: undefined, jitter: undefined });
  });

  test("has rates per second, and bytes per message of both directions", () => {
    const meter = new Meter();
    meter.sample(stats(0, 0), 0);
    // Three of these ages are impossible.
    [10, 20, 1e10, NaN, -5].forEach((age) => meter.note(age));
    meter.sample(stats(20, 60), 2000);
    expect(meter.figures).toEqual({
      latency: 15,
      jitter: 5,
      roundTrip: 12,
      sent: { messages: 10, bytes: 100 },
      received: { messages: 30, bytes: 600 },
      bytesPerMessage: 17.5,
    });
  });

  test("keeps a minute of history, and averages over ten seconds", () => {
    const meter = new Meter();
    for (let second = 0; second < 100; second++) {
      meter.note(second < 80 ? 500 : 20);
      meter.sample(stats(second, 0), second * 1000);
    }
    expect(meter.history).toHaveLength(SECONDS);
    expect(meter.figures.latency).toBe(20);
    expect(meter.history[0]?.latency).toBe(500);
  });

  test("is undefined where nothing was measured", () => {
    const { latency, bytesPerMessage } = new Meter().figures;
    expect([latency, bytesPerMessage]).toEqual([undefined, undefined]);
  });
});
