// Proves that expectations can fail: a client that loses, repeats, reorders or invents is noticed.

import assert from "node:assert/strict";
import { test } from "node:test";
import { EXPECTATIONS, has } from "./lib/expect.mjs";

const ids = { ann: 1, bob: 2 };
const message = (text, more = {}) => ({ event: "message", channel: "chat", text, sender: 1, ...more });
const seen = (...events) => ({ events, nameOf: (id) => Object.keys(ids).find((name) => ids[name] === id) });
const world = { id: (name) => ids[name], others: [], sent: () => [] };

test("has: objects may have more, lists may not", () => {
  assert.ok(has({ a: 1, b: 2 }, { a: 1 }));
  assert.ok(!has({ a: 1 }, { a: 1, b: 2 }));
  assert.ok(!has([1, 2], [1]));
  assert.ok(!has(null, {}));
});

test("messages: lost, repeated, in another order, of somebody else", () => {
  const step = { channel: "chat", are: [{ text: "a", from: "ann" }, "b"] };
  const differs = (...events) => EXPECTATIONS.messages(step, seen(...events), world) !== undefined;
  const [a, b] = [message("a"), message("b")];
  assert.ok(!differs(a, b));
  assert.ok(!differs(a, message("x", { channel: "other" }), b));
  for (const wrong of [[a], [a, b, b], [b, a], [message("a", { sender: 2 }), b]]) assert.ok(differs(...wrong));
});

test("order: lost, repeated, not in the sender's order, other than at the others", () => {
  const step = { channel: "chat" };
  const sent = () => [
    { who: "ann", texts: ["a1", "a2"] },
    { who: "bob", texts: ["b1"] },
  ];
  const differs = (got, other) => {
    const others = [{ who: "bob", events: other.map((text) => message(text)) }];
    return (
      EXPECTATIONS.order(step, seen(...got.map((text) => message(text))), { ...world, sent, others }) !== undefined
    );
  };
  const right = ["a1", "b1", "a2"];
  assert.ok(!differs(right, right));
  for (const wrong of [
    ["a1", "b1"],
    [...right, "a1"],
    ["a2", "b1", "a1"],
    [...right, "made up"],
  ]) {
    assert.ok(differs(wrong, wrong), wrong.join());
  }
  assert.ok(differs(right, ["b1", "a1", "a2"]));
});

test("newest: not yet there, an older value after a newer one, of another key", () => {
  const step = { channel: "chat", from: "ann", key: "x", text: "v 10" };
  const differs = (...texts) => {
    return EXPECTATIONS.newest(step, seen(...texts.map((text) => message(text, { key: "x" }))), world) !== undefined;
  };
  assert.ok(!differs("v 2", "v 10"));
  for (const wrong of [[], ["v 9"], ["v 10", "v 2"], ["v 3", "v 2", "v 10"], ["v 10", "v 10"]])
    assert.ok(differs(...wrong));
  assert.ok(EXPECTATIONS.newest(step, seen(message("v 10", { key: "y" })), world));
});

test("events: missing, too often, another reason", () => {
  const gap = { event: "gap", reason: "session" };
  const differs = (step, ...events) => EXPECTATIONS.event(step, seen(...events), world) !== undefined;
  assert.ok(!differs({ like: gap }, gap, gap));
  assert.ok(differs({ like: gap }));
  assert.ok(differs({ like: gap, times: 1 }, gap, gap));
  assert.ok(differs({ like: { event: "gap" }, times: 0 }, gap));
  assert.ok(differs({ like: { ...gap, reason: "history" } }, gap));
});

test("people: somebody is missing, too many, away, or shows something else", () => {
  const step = { are: [{ who: "ann", away: false, presence: { name: "Ann" } }] };
  const ann = { id: 1, away: false, presence: '{"name":"Ann"}' };
  const differs = (...people) => EXPECTATIONS.people(step, { state: { people } }, world) !== undefined;
  assert.ok(!differs(ann));
  for (const wrong of [[], [ann, { ...ann, id: 2 }], [{ ...ann, away: true }], [{ ...ann, presence: "" }]]) {
    assert.ok(differs(...wrong));
  }
});

test("directs: a message that should have stayed with another is noticed", () => {
  const step = { channel: "chat", are: [] };
  assert.ok(EXPECTATIONS.directs(step, seen(message("secret", { event: "direct", own: false })), world));
});

test("data: another value, another holder, another turn", () => {
  const data = { shapes: { a: 1 }, texts: ["x"], likes: 2, holder: 1, isMine: false, turns: [2, 1], pending: 0 };
  const differs = (is) => EXPECTATIONS.data({ is }, { ...seen(), data }, world) !== undefined;
  assert.ok(!differs({ shapes: { a: 1 }, texts: ["x"], likes: 2, holder: "ann", turns: ["bob", "ann"] }));
  const wrong = [{ shapes: { a: 2 } }, { texts: [] }, { likes: 1 }, { holder: "bob" }, { turns: ["ann", "bob"] }];
  for (const is of wrong) assert.ok(differs(is), JSON.stringify(is));
  const free = { ...seen(), data: { ...data, holder: 0 } };
  assert.equal(EXPECTATIONS.data({ is: { holder: "nobody" } }, free, world), undefined);
});
