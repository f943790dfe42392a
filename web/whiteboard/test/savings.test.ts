import type { ChannelTraffic, Stats } from "groupwire";
import { expect, test } from "vitest";
import { Savings, sumsOf } from "../src/net/savings";
import { percent } from "../src/ui/contracts";
import { saved } from "../src/ui/panel";

const IDLE: ChannelTraffic = {
  messages: 0,
  bytesBefore: 0,
  bytesAfter: 0,
  codedMessages: 0,
  codedBytes: 0,
  codec: undefined,
};

/**
 * Makes the counts of a session that sent messages of 100 bytes, each of which took `each` bytes in
 * a packet with 7 other bytes, and received packets without messages.
 */
class Sender {
  #messages = 0;
  #after = 0;
  #packets = 0;
  #alone = 0;
  #codec: string | undefined;

  send(messages: number, each: number, codec?: string): Stats {
    this.#messages += messages;
    this.#after += messages * each;
    this.#packets++;
    if (codec !== undefined) this.#alone += messages;
    this.#codec = codec ?? this.#codec;
    const packets = this.#after + 7 * this.#messages;
    const sent = { messages: this.#messages, packets: this.#packets, bytesAfter: packets, bytesPayload: this.#after };
    const traffic = {
      ...IDLE,
      messages: this.#alone,
      codedMessages: this.#messages - this.#alone,
      codec: this.#codec,
    };
    return {
      transport: "double",
      sent: { ...sent, bytesBefore: 100 * this.#messages },
      received: { messages: 0, packets: this.#packets, bytesBefore: 0, bytesAfter: 9 * this.#packets, bytesPayload: 0 },
      roundTrip: undefined,
      reconnects: 0,
      channels: new Map([["draw", { sent: traffic, received: IDLE }]]),
    };
  }
}

test("the average message is known before and after compression; without messages there is no average", () => {
  const sender = new Sender();
  const savings = new Savings(sender.send(0, 0), "template");
  savings.sample(sender.send(10, 12), "template");
  savings.sample(sender.send(0, 0), "template");
  savings.sample(sender.send(10, 8), "template");
  expect(savings.up.each).toEqual({ before: 100, after: 10, others: 7 });
  expect(savings.up.by).toEqual(["template"]);
  expect(savings.down.each).toBeUndefined();
  expect(savings.tried.get("template")).toEqual({ messages: 20, before: 2000, after: 200, others: 140 });
});

test("a new setting is averaged anew after some samples, and earlier settings are kept", () => {
  const sender = new Sender();
  const savings = new Savings(sender.send(0, 0), "template");
  savings.sample(sender.send(10, 10), "template");
  for (let i = 0; i < 3; i++) savings.sample(sender.send(10, 50), "zstd");
  expect(savings.up.each).toBeUndefined();
  savings.sample(sender.send(10, 60, "zstd"), "zstd");
  expect(savings.up).toMatchObject({ each: { before: 100, after: 60, others: 7 }, by: ["zstd"] });
  const each = [...savings.tried].map(([name, { messages, after }]) => [name, after / messages]);
  expect(each).toEqual([
    ["template", 10],
    ["zstd", 60],
  ]);
});

test("what messages became is told apart from what packets cost", () => {
  const sender = new Sender();
  expect(saved(sumsOf(sender.send(0, 0).sent))).toBe("Nothing has been sent yet.");
  // Short messages: their packets have more bytes than they, and still they became smaller.
  const traffic = { messages: 100, packets: 100, bytesBefore: 900, bytesAfter: 1400, bytesPayload: 430 };
  expect(saved(sumsOf(traffic))).toBe(
    "900 B of messages became 430 B. Headers, acknowledgements and pings: 970 B more.",
  );
});

test("only if nothing was missed is the share 100 %", () => {
  expect([1, 0.9996, 0.9, 0].map(percent)).toEqual(["100 %", "99.9 %", "90.0 %", "0.0 %"]);
});
