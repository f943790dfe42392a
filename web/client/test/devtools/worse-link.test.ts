/** The bad network between a client and its transport: what it delays, loses and reports. */

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { WorseLink } from "../../src/devtools/worse-link.js";
import { SimulatedClock } from "../../src/testing/clock.js";
import { Path, type NetworkConditions } from "../../src/testing/path.js";
import { Random } from "../../src/testing/random.js";
import type { LinkEvents } from "../../src/transport/link.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A link over a worse network, with what it did to the real link, and what it told the client. */
function world(conditions: NetworkConditions, isOffline = false) {
  const path = new Path(new SimulatedClock(), new Random(3), { delay: 0, ...conditions });
  const [real, told]: [string[], string[]] = [[], []];
  let events: LinkEvents | undefined;
  const link = new WorseLink(
    { path, isOffline },
    {
      opened: (maxDatagram) => told.push(`opened ${maxDatagram}`),
      received: ([packet]) => told.push(`received ${packet}`),
      receivedDatagram: ([packet]) => told.push(`datagram ${packet}`),
      sent: () => told.push("sent"),
      datagramSent: () => told.push("datagram sent"),
      closed: (reason) => told.push(`closed: ${reason}`),
    },
    (given) => {
      events = given;
      return {
        send: ([packet]) => void real.push(`send ${packet}`),
        sendDatagram: ([packet]) => void real.push(`send datagram ${packet}`),
        release: (pageCloses) => void real.push(`release ${pageCloses}`),
        close: () => void real.push("close"),
      };
    },
    () => told.push("ended"),
  );
  return { link, path, real, told, events: events as LinkEvents };
}

const packet = (number: number): Uint8Array<ArrayBuffer> => Uint8Array.of(number);
const run = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

test("a network as it is changes nothing, at once", () => {
  const { link, real, told, events } = world({});
  events.opened(1200);
  link.send(packet(1));
  link.sendDatagram(packet(2));
  events.sent();
  events.datagramSent();
  events.received(packet(3));
  events.receivedDatagram(packet(4));
  link.release(true);
  events.closed("broke");
  expect(real).toEqual(["send 1", "send datagram 2", "release true"]);
  expect(told).toEqual(["opened 1200", "sent", "datagram sent", "received 3", "datagram 4", "ended", "closed: broke"]);
});

test("packets are delayed, in their order, and reported when they are under way", async () => {
  const { link, path, real, told, events } = world({ delay: 100 });
  events.opened(0);
  await run(399);
  expect(told).toEqual([]);
  await run(1);
  expect(told).toEqual(["opened 0"]);
  link.send(packet(1));
  await run(50);
  expect([real, told]).toEqual([[], ["opened 0", "sent"]]);
  // A packet for which the network is faster does not overtake.
  path.change({ delay: 0 });
  link.send(packet(2));
  await run(49);
  expect(real).toEqual([]);
  await run(1);
  expect(real).toEqual(["send 1", "send 2"]);
  // The real link's reports are those of packets that were reported before.
  events.sent();
  events.sent();
  expect(told.filter((what) => what === "sent")).toHaveLength(2);
  path.change({ delay: 100 });
  events.received(packet(3));
  path.change({ delay: 0 });
  events.received(packet(4));
  expect(told).not.toContain("received 3");
  await run(100);
  expect(told.slice(-2)).toEqual(["received 3", "received 4"]);
});

test("datagrams are lost and overtake each other", async () => {
  const { link, path, real, told } = world({ loss: 1 });
  link.sendDatagram(packet(1));
  await run(0);
  expect([real, told]).toEqual([[], ["datagram sent"]]);
  path.change({ loss: 0, delay: 100 });
  link.sendDatagram(packet(2));
  path.change({ delay: 10 });
  link.sendDatagram(packet(3));
  await run(100);
  expect(real).toEqual(["send datagram 3", "send datagram 2"]);
});

test("what a stream loses arrives late", async () => {
  const { link, real } = world({ loss: 1, delay: 10 });
  link.send(packet(1));
  await run(1000);
  expect(real).toEqual([]);
  await run(20_000);
  expect(real).toEqual(["send 1"]);
});

test("what is under way when the client leaves is sent at once", async () => {
  const { link, real, told } = world({ delay: 500 });
  link.send(packet(1));
  link.release(true);
  // The last packet, which the core gives after the reports.
  link.send(packet(2));
  link.close();
  expect(real).toEqual(["send 1", "release true", "send 2", "close"]);
  expect(told).toEqual(["sent", "ended"]);
  await run(1000);
  expect(told).toEqual(["sent", "ended"]);
});

test("offline: no link opens, and an open one breaks with what is under way", async () => {
  const closed = world({}, true);
  expect(closed.told).toEqual([]);
  await run(0);
  expect(closed.told).toEqual(["ended", "closed: is switched off by the devtools"]);
  const { link, real, told, events } = world({ delay: 100 });
  link.send(packet(1));
  events.received(packet(2));
  link.breaks();
  await run(1000);
  expect(real).toEqual(["close"]);
  expect(told).toEqual(["ended", "closed: broke"]);
});

test("when the devtools are taken away, what is under way arrives", () => {
  const { link, real, told, events } = world({ delay: 100 });
  link.send(packet(1));
  events.received(packet(2));
  link.passes();
  expect(real).toEqual(["send 1"]);
  expect(told).toEqual(["received 2"]);
});
