import { describe, expect, test } from "vitest";
import { Events } from "../src/inspector/feed.js";
import { Model, nameOf, PURPOSES, split } from "../src/inspector/model.js";
import type {
  Channel,
  Code,
  Flow,
  Measured,
  Packet,
  Part,
  Received,
  Report,
  Transport,
} from "../src/inspector/report.js";
import { axisTop } from "../src/inspector/timeline.js";
import {
  bytes,
  change,
  codeSet,
  ms,
  packetSentence,
  percent,
  qosSummary,
  ratio,
  tolerated,
  transportReason,
  wireSummary,
} from "../src/inspector/words.js";

const NEW = 0;
const REPEATED = 1;
const STATE = 2;
const OWN = 3;

const CHANNELS: readonly Channel[] = ["draw", "pointer"].map((name, i) => ({
  id: i + 1,
  name,
  kind: i === 0 ? "transaction" : "awareness",
  overflow: i === 0 ? "aggregate" : "conflate",
  priority: 128,
  private: false,
  loss: i * 0.05,
  deadline: i === 0 ? null : 250,
  rate_min: 0,
  rate_max: i * 25,
}));

const TRANSPORT: Transport = {
  kind: "WebTransport",
  round_trip: 20,
  clock_error: 5,
  rate: null,
  rate_limit: null,
  reason: null,
  datagrams: true,
  coded: true,
  stream_group: null,
  datagram_group: null,
  epoch: 1,
  lost_to: 0.05,
  lost_from: null,
  subscribed: [],
  measured: [],
  emulable: true,
  emulation: null,
};

function part(channel: number, sender: number, purpose: number, before: number, cost: number): Part {
  return [channel, sender, 7, purpose, before, 12, cost];
}

function packet(parts: readonly Part[], more: Partial<Packet> = {}): Packet {
  const all = { bytes: 61, header_bytes: 4, feedback_bytes: 3, overhead: 2 };
  const where = { at: 1000, participant: 2, out: true, datagram: true, group: null, epoch: 9 };
  return { ...all, ...where, parts, ...more };
}

function report(now: number, more: Partial<Report> = {}): Report {
  const participants = [
    { id: 1, state: "here" as const, presence: '{"name":"Ana"}', transport: null },
    { id: 2, state: "here" as const, presence: "\u0001", transport: null },
  ];
  const empty = { flows: [], carriages: [], packets: [], recording: null };
  return { now, tick: 40, missed: 0, channels: CHANNELS, participants, ...empty, ...more };
}

function flow(messages: number, before: number, cost: number, more: Partial<Flow> = {}): Flow {
  const ages = [messages, ...Array<number>(11).fill(0)];
  const sums = {
    messages: [messages, 0, 0, 0],
    before,
    new_before: before,
    state_before: 0,
    costs: [cost, 0, 0, 0],
    ages,
  };
  return { participant: 1, out: true, channel: 2, ...sums, ...more };
}

function model(...reports: readonly Report[]): Model {
  const model = new Model();
  reports.forEach((report) => model.take(report));
  return model;
}

describe("packets", () => {
  test("the bytes of a packet by purpose add up to its size", () => {
    const parts = [part(2, 1, NEW, 200, 20 * 64 + 3), part(2, 1, REPEATED, 200, 129), part(1, 2, OWN, 0, 11)];
    const sizes = split(packet(parts));
    const sum = PURPOSES.reduce((sum, purpose) => sum + sizes[purpose], 0);
    expect(sum).toBeCloseTo(61);
    expect(sizes.feedback).toBe(3);
    expect(sizes.repeated).toBeCloseTo(2, 1);
  });

  test("a sentence says what a packet carried", () => {
    const known = model(report(0));
    const pointers = [part(2, 1, NEW, 140, 900), part(2, 1, REPEATED, 136, 128), part(2, 1, REPEATED, 136, 128)];
    expect(packetSentence(packet(pointers), known)).toBe(
      "This packet carried 3 pointer messages from Ana, 2 of them again in case they were lost; 61 bytes instead of 412.",
    );
    expect(packetSentence(packet([part(1, 2, OWN, 0, 64)], { bytes: 3 }), known)).toBe(
      "This packet confirmed that 1 of Participant 2's own has its place now; 3 bytes.",
    );
    const shared = [part(2, 2, OWN, 140, 900)];
    expect(packetSentence(packet(shared, { bytes: 21, group: 3 }), known)).toBe(
      "This packet carried only own messages, for the others of the fan-out group; 21 bytes.",
    );
    expect(packetSentence(packet([], { bytes: 7 }), known)).toMatch(/no messages, only feedback/);
    expect(packetSentence(packet([], { bytes: 1, feedback_bytes: 0 }), known)).toMatch(/only control.*1 byte\./);
    const late = [part(0, 0, STATE, 9000, 64 * 3000), part(1, 1, STATE, 90, 64 * 30)];
    expect(packetSentence(packet(late, { bytes: 3040 }), known)).toBe(
      "This packet carried a piece of the room's snapshot and 1 draw message from Ana, 1 of them for a late joiner; 3,040 bytes instead of 9090.",
    );
  });

  test("the newest packets that match the filter, oldest first", () => {
    const packets = [1, 2, 1, 1].map((participant, i) => packet([], { participant, bytes: i, out: i !== 2 }));
    const known = model(report(0, { packets }));
    const sizes = (participant: number | undefined, direction: "out" | "in" | "both", count = 9): number[] =>
      known.newest({ participant, direction }, count).map(({ packet }) => packet.bytes);
    expect(sizes(undefined, "both")).toEqual([0, 1, 2, 3]);
    expect(sizes(1, "out")).toEqual([0, 3]);
    expect(sizes(undefined, "in")).toEqual([2]);
    expect(sizes(undefined, "both", 2)).toEqual([2, 3]);
    known.take(report(1, { packets: Array.from({ length: 5000 }, () => packet([])) }));
    expect(known.packets).toHaveLength(2000);
  });
});

describe("rates", () => {
  const carriage = (bytes: number, header_bytes = 0) => ({
    participant: 1,
    out: true,
    datagram: false,
    packets: 1,
    bytes,
    header_bytes,
    feedback_bytes: 0,
  });

  test("are averaged over the last seconds", () => {
    const known = new Model();
    for (let second = 0; second <= 20; second++) {
      // There is no traffic in the first ten seconds.
      const sent = Math.max(second - 10, 0) * 25;
      const flows = [flow(sent, sent * 100, sent * 10 * 64)];
      known.take(report(second * 1000, { flows, carriages: [carriage(sent * 16, sent * 4)] }));
    }
    const filter = { participant: undefined, direction: "out" as const };
    const pointer = known.channels(filter)[1];
    expect(pointer?.perSecond).toEqual({ messages: 25, before: 2500, after: 250, repeated: 0 });
    expect(pointer?.total.messages).toBe(250);
    // Headers are no part of the payloads, whose ratio is told.
    expect(known.wire(filter).perSecond).toEqual({ messages: 2500, payloads: 300, others: 100 });
    expect(wireSummary(known.wire(filter))).toBe(
      "2500 B/s of messages take 300 B/s, and 100 B/s of headers, acknowledgements and pings · messages 8.3× smaller so far",
    );
    // Some messages that are no smaller do not change what was reached so far.
    const flows = [flow(251, 25_008, 250 * 10 * 64 + 12 * 64)];
    known.take(report(30_000, { flows, carriages: [carriage(250 * 16 + 22, 1010)] }));
    expect(wireSummary(known.wire(filter))).toMatch(/^1 B\/s of messages take 1 B\/s, .* 8\.3× smaller so far$/);
    expect(known.channels({ participant: 2, direction: "out" })[1]?.total.messages).toBe(0);
  });

  test("begin anew when the server's sums begin anew", () => {
    const known = model(report(5000, { flows: [flow(100, 100, 100)] }), report(6000, { flows: [flow(2, 2, 2)] }));
    expect(known.channels({ participant: undefined, direction: "both" })[1]?.perSecond.messages).toBe(0);
  });

  test("count a late joiner's state as messages, and its snapshot among the other bytes", () => {
    const state = { new_before: 0, messages: [0, 0, 9, 0], costs: [0, 0, 90 * 64, 0] };
    const flows = [
      flow(0, 900, 0, { ...state, state_before: 900 }),
      flow(0, 5000, 0, { ...state, channel: 0, state_before: 5000, costs: [0, 0, 3000 * 64, 0] }),
    ];
    const known = model(report(0), report(1000, { flows, carriages: [carriage(3100, 10)] }));
    const filter = { participant: undefined, direction: "both" as const };
    expect(known.wire(filter).total).toEqual({ messages: 900, payloads: 90, others: 3010 });
    expect(known.channels(filter)[1]?.perSecond).toMatchObject({ before: 900, after: 90 });
  });

  test("without messages the cost of packets is told alone", () => {
    const known = model(report(0), report(1000, { carriages: [carriage(46, 46)] }));
    expect(wireSummary(known.wire({ participant: 1, direction: "out" }))).toBe(
      "No messages now, 46 B/s of headers, acknowledgements and pings",
    );
  });

  test("are 0 without a report", () => {
    expect(new Model().channels({ participant: 1, direction: "in" })).toEqual([]);
    const nothing = { messages: 0, payloads: 0, others: 0 };
    expect(new Model().wire({ participant: 1, direction: "in" })).toEqual({ perSecond: nothing, total: nothing });
  });
});

test("bars take at least half of their axis, whose lines are whole numbers, and which seldom changes", () => {
  for (let largest = 9; largest < 70_000; largest += 1 + (largest >> 4)) {
    const top = axisTop(largest, 0);
    expect(top / 2).toBe(Math.round(top / 2));
    expect(top, `${largest}`).toBeGreaterThanOrEqual(largest);
    expect(top).toBeLessThanOrEqual(largest * 1.5);
    for (const next of [top, top / 2]) expect(axisTop(next, top)).toBe(top);
    for (const next of [top + 1, top / 2 - 1]) if (next >= 8) expect(axisTop(next, top)).not.toBe(top);
  }
  expect(axisTop(0, 0)).toBe(8);
});

describe("how well channels work", () => {
  const none = { after: [], dedicated: [] };
  const code: Code = {
    most: none,
    others: { after: [1, 3], dedicated: [20] },
    share: 0.3,
    requests: true,
    tail_flush: false,
  };
  const ages = [0, 0, 90, 0, 0, 0, 10, 0, 0, 0, 0, 0];
  const received: Received = {
    tally: { judged: 100, missed: 10, late: 10 },
    saved: 4,
    rate: 24.5,
    median: 18,
    p99: 110,
    ages,
  };
  const measured = (more: Partial<Measured>): Measured => ({
    channel: 2,
    received: null,
    sent: null,
    code: null,
    limit: null,
    ...more,
  });
  const room = (...each: readonly Partial<Measured>[]): Model =>
    model(
      report(1000, {
        participants: each.map((more, i) => ({
          id: i + 1,
          state: "here",
          presence: "",
          transport: { ...TRANSPORT, measured: [measured(more)] },
        })),
      }),
    );
  const pointer = (known: Model, participant?: number) => known.channels({ participant, direction: "out" })[1];

  test("figures of one participant are its own", () => {
    const known = room({ received, limit: 5, code }, { sent: { judged: 50, missed: 1, late: 0 } });
    expect(pointer(known, 1)).toMatchObject({
      received: { tally: received.tally, saved: 4, one: received },
      sent: undefined,
      codes: [code],
      limit: 5,
    });
    expect(pointer(known, 2)).toMatchObject({ received: undefined, sent: { judged: 50, missed: 1 }, codes: [] });
  });

  test("figures of all participants are added up, and each code set is shown once", () => {
    const worse = { ...received, tally: { judged: 100, missed: 30, late: 0 } };
    const known = room({ received, code, limit: 5 }, { received: worse, code }, {});
    expect(pointer(known)).toMatchObject({
      received: { tally: { judged: 200, missed: 40, late: 10 }, saved: 8, one: undefined },
      codes: [code],
      limit: undefined,
    });
    expect(pointer(known)?.received?.ages[2]).toBe(180);
  });

  test("a code set in words", () => {
    expect(codeSet(code)).toBe(
      "30 % again 1 and 3 packets later, 20 ms later, else each once; requested again if missing",
    );
    const plain = { most: none, others: none, share: 0, requests: false, tail_flush: false };
    expect(codeSet(plain)).toBe("each once");
    expect(codeSet({ ...plain, most: { after: [1], dedicated: [] }, tail_flush: true })).toBe(
      "again 1 packet later; the last value again",
    );
  });

  test("a transport's reason is what its client reports, otherwise what its kind implies", () => {
    expect(transportReason({ kind: "WebSocket", reason: "The only one." })).toBe("The only one.");
    expect(transportReason({ kind: "WebSocket", reason: null })).toMatch(/no WebTransport/);
  });

  test("of transactions one in a hundred may be late", () => {
    expect(CHANNELS.map(tolerated)).toEqual([0.01, 0.05]);
  });
});

describe("words", () => {
  test("names come from the presence if it has one", () => {
    const person = (presence: string) => ({ id: 3, state: "here" as const, presence, transport: null });
    expect(nameOf(person('{"name":" Ana "}'), 3)).toBe("Ana");
    for (const presence of ["", "{", "null", "[]", '{"name":3}', '{"name":" "}']) {
      expect(nameOf(person(presence), 3)).toBe("Participant 3");
    }
  });

  test("numbers are short", () => {
    expect([bytes(1), bytes(2.25), bytes(61), bytes(12_345)]).toEqual([
      "1 byte",
      "2.3 bytes",
      "61 bytes",
      "12,345 bytes",
    ]);
    expect([percent(0), percent(0.0004), percent(0.05)]).toEqual(["0 %", "under 0.1 %", "5 %"]);
    expect([ms(3.04), ms(250), ms(1500)]).toEqual(["3 ms", "250 ms", "1.5 s"]);
    expect([ratio(100, 8), ratio(0, 8), ratio(8, 0)]).toEqual(["13×", "–", "–"]);
    expect([change(100, 8), change(83, 104)]).toEqual(["13× smaller", "1.3× larger"]);
  });

  test("a channel's QoS is put in words", () => {
    const [draw, pointer] = CHANNELS;
    if (!draw || !pointer) throw new Error("there are two channels");
    expect(qosSummary(draw)).toBe("every message arrives, in order, once");
    expect(qosSummary(pointer)).toBe(
      "5 % may be lost or late, within 250 ms, at most 25/s, only the newest value of a key counts",
    );
  });
});

test("events are parsed however the stream is cut", () => {
  const text = ': hello\n\ndata: {"a":1}\n\ndata: 1\ndata: 2\n\nevent: x\n\ndata: cut';
  for (let size = 1; size < 9; size++) {
    const found: string[] = [];
    const events = new Events((data) => found.push(data));
    for (let at = 0; at < text.length; at += size) events.take(text.slice(at, at + size));
    expect(found).toEqual(['{"a":1}', "1\n2"]);
  }
});
