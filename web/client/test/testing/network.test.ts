/** What a simulated transport does with packets and datagrams. */

import { expect, test } from "vitest";
import { SimulatedClock } from "../../src/testing/clock.js";
import { Path, type NetworkConditions } from "../../src/testing/path.js";
import { Random } from "../../src/testing/random.js";
import { SimulatedTransport } from "../../src/testing/transport.js";

interface World {
  readonly clock: SimulatedClock;
  readonly path: Path;
  readonly transport: SimulatedTransport;
  /** What the participant and the server were told, with its time. */
  readonly client: (readonly [time: number, what: string])[];
  readonly server: (readonly [time: number, what: string])[];
  run(ms: number): void;
}

/** An open transport. */
function world(conditions: NetworkConditions = {}, seed = 1): World {
  const clock = new SimulatedClock();
  const path = new Path(clock, new Random(seed), {});
  const client: World["client"] = [];
  const server: World["server"] = [];
  const note =
    (to: World["client"], what: string) =>
    (...[packet]: readonly unknown[]): void =>
      void to.push([clock.now(), packet instanceof Uint8Array ? `${what} ${packet[0]}` : what]);
  const transport = new SimulatedTransport({
    number: 1,
    name: "webtransport",
    room: "room",
    clock,
    path,
    server: {
      isUp: true,
      opened: note(server, "opened"),
      received: (_, packet) => note(server, "packet")(packet),
      receivedDatagram: (_, packet) => note(server, "datagram")(packet),
      sent: note(server, "sent"),
      datagramSent: note(server, "datagram sent"),
      closed: note(server, "closed"),
    },
    events: {
      opened: note(client, "opened"),
      received: note(client, "packet"),
      receivedDatagram: note(client, "datagram"),
      sent: note(client, "sent"),
      datagramSent: note(client, "datagram sent"),
      closed: (reason) => note(client, `closed: ${reason}`)(),
    },
    log: () => {},
  });
  const run = (ms: number): void => {
    const end = clock.now() + ms;
    while (clock.next() <= end) clock.runNext();
    clock.goTo(end);
  };
  run(1000);
  client.length = server.length = 0;
  path.change(conditions);
  return { clock, path, transport, client, server, run };
}

const packet = (first: number, length = 1): Uint8Array<ArrayBuffer> => new Uint8Array(length).fill(first);
/** The first bytes of what was told as `what`. */
const numbers = (told: World["client"], what: string): number[] =>
  told
    .map(([, text]) => text.split(" "))
    .flatMap(([kind, first]) => (kind === what && first !== "sent" ? [Number(first)] : []));
const count = Array.from({ length: 100 }, (_, at) => at);

test("a stream keeps its order, and datagrams overtake each other", () => {
  const { transport, server, client, run } = world({ jitter: 100 });
  for (const at of count) {
    transport.send(packet(at));
    transport.sendDatagram(packet(at));
    transport.serverSends(packet(at));
    run(1);
  }
  run(1000);
  expect(numbers(server, "packet")).toEqual(count);
  expect(numbers(client, "packet")).toEqual(count);
  const datagrams = numbers(server, "datagram");
  expect(datagrams).not.toEqual(count);
  expect(datagrams.toSorted((one, other) => one - other)).toEqual(count);
});

test("loss takes datagrams away, makes streams late, and holds for its direction", () => {
  const { transport, server, client, run } = world({ up: { loss: 0.3 } });
  for (const at of count) {
    transport.send(packet(at));
    transport.sendDatagram(packet(at));
    transport.serverSendsDatagram(packet(at), true);
    run(100);
  }
  run(10_000);
  expect(numbers(server, "packet")).toEqual(count);
  const late = server.filter(
    ([time, what]) => what.startsWith("packet") && time - 1000 - 100 * Number(what.slice(7)) > 21,
  );
  expect(late.length).toBeGreaterThan(20);
  expect(numbers(server, "datagram").length).toBeLessThan(85);
  expect(numbers(server, "datagram").length).toBeGreaterThan(55);
  expect(numbers(client, "datagram")).toEqual(count);
});

test("after a partition streams arrive in order, and its datagrams never", () => {
  const { clock, path, transport, server, run } = world();
  transport.send(packet(0));
  path.cut(Infinity);
  for (const at of [1, 2, 3]) {
    transport.send(packet(at));
    transport.sendDatagram(packet(at));
    run(500);
  }
  expect(server).toEqual([]);
  // This packet is under way at the end of the partition.
  transport.send(packet(4));
  run(1);
  path.heal();
  transport.send(packet(5));
  const healed = clock.now();
  run(1000);
  expect(numbers(server, "packet")).toEqual([0, 1, 2, 3, 4, 5]);
  expect(numbers(server, "datagram")).toEqual([]);
  expect(server.every(([time]) => time >= healed + 20)).toBe(true);
});

test("a rate makes packets leave one after the other", () => {
  const { transport, client, server, run } = world({ rate: 1000, delay: 10 });
  for (const at of [1, 2]) transport.send(packet(at, 500));
  run(5000);
  expect(client).toEqual([
    [1500, "sent"],
    [2000, "sent"],
  ]);
  expect(server).toEqual([
    [1510, "packet 1"],
    [2010, "packet 2"],
  ]);
});

test("what does not arrive takes place in the sender, who has to wait then", () => {
  const { path, transport, client, server, run } = world();
  path.cut(Infinity);
  for (const at of [1, 2, 3]) transport.send(packet(at, 30_000));
  run(1000);
  expect(client.map(([, what]) => what)).toEqual(["sent", "sent"]);
  path.heal();
  run(1000);
  expect(client.map(([, what]) => what)).toEqual(["sent", "sent", "sent"]);
  expect(numbers(server, "packet")).toEqual([1, 2, 3]);
});

test("a close comes after all packets, a break at once and instead of them", () => {
  const closing = world();
  closing.transport.send(packet(1));
  closing.transport.close();
  closing.transport.serverSends(packet(2));
  closing.run(1000);
  expect(closing.server.map(([, what]) => what)).toEqual(["sent", "packet 1", "closed"]);
  expect(closing.client.map(([, what]) => what)).toEqual(["sent"]);

  const breaking = world();
  breaking.transport.send(packet(1));
  breaking.transport.break();
  breaking.run(1000);
  expect(breaking.server.map(([, what]) => what)).toEqual(["closed"]);
  expect(breaking.client.map(([, what]) => what)).toEqual(["sent", "closed: broke"]);

  const ended = world();
  ended.transport.serverCloses(packet(9));
  ended.transport.send(packet(1));
  ended.run(1000);
  expect(ended.server.map(([, what]) => what)).toEqual(["sent"]);
  expect(ended.client.map(([, what]) => what)).toEqual(["sent", "packet 9", "closed: was closed by the server"]);
});
