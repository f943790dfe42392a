/** Wrong arguments of the provider are told at once, and leave nothing behind. */

import { simulate } from "groupwire/testing";
import { expect, test } from "vitest";
import * as Y from "yjs";
import { GroupwireProvider } from "../src/index.js";

const wrong = (message: string, code = "invalid-argument"): Error =>
  expect.objectContaining({
    name: "GroupwireError",
    code,
    message: expect.stringContaining(message) as string,
  }) as Error;

const isRoom = "must be what `connect` of groupwire returns, or a function that returns it";

test.each<readonly [room: unknown, options: unknown, message: string]>([
  ["wss://example.com", {}, `the room ${isRoom}`],
  [undefined, {}, `the room ${isRoom}`],
  [Promise.resolve(), {}, `the room ${isRoom}`],
  [() => Promise.resolve(), {}, `the result of the function ${isRoom}`],
  [undefined, null, `the room ${isRoom}`],
  ["own", null, "the options must be an object"],
  ["own", { awarness: null }, "there is no option `awarness`. There are connect, awareness, name, updates, presence"],
  ["own", { connect: "no" }, "the option `connect` must be of type boolean"],
  ["own", { name: 5 }, "the option `name` must be of type string"],
  ["own", { awareness: {} }, "`awareness` must be an `Awareness` of y-protocols, or null"],
  ["own", { updates: 5 }, "the option `updates` must be of type object"],
])("a provider for %o with %o is refused", (room, options, message) => {
  const net = simulate();
  const own = net.join();
  const doc = new Y.Doc();
  expect(() => new GroupwireProvider((room === "own" ? own : room) as never, doc, options as never)).toThrow(
    wrong(message),
  );
  // Nobody listens to the document any more.
  expect(doc._observers.get("update")?.size ?? 0).toBe(0);
  const provider = new GroupwireProvider(own, doc);
  provider.destroy();
  net.end();
});

test("a document that is none is refused, and a second provider of one name", () => {
  const net = simulate();
  const room = net.join();
  for (const doc of [undefined, {}, "x"])
    expect(() => new GroupwireProvider(room, doc as never)).toThrow(wrong("the document must be a `Y.Doc`"));
  const first = new GroupwireProvider(room, new Y.Doc());
  expect(() => new GroupwireProvider(room, new Y.Doc())).toThrow(wrong('a provider for "yjs" already', "in-use"));
  expect(() => new GroupwireProvider(room, new Y.Doc(), { name: "other", updates: { prioirty: 1 } as never })).toThrow(
    wrong('"prioirty" is not an option of the channel "other": did you mean "priority"?'),
  );
  first.destroy();
  net.end();
});
