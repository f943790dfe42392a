/** The log and the marks. */

import { expect, test } from "vitest";
import { append, EMPTY, KEPT, readersOf, soundLog, type Log, type Mark } from "../src/log";

function draft(id: string, person = "ada"): object {
  return { id, person, name: person.toUpperCase(), text: `text of ${id}`, at: 1000 };
}

function logOf(...ids: string[]): Log {
  return ids.reduce((log, id) => append(log, draft(id)), EMPTY);
}

test("messages are numbered in their order", () => {
  const { count, messages } = logOf("a", "b");
  expect(count).toBe(2);
  expect(messages.map(({ id, number }) => [id, number])).toEqual([
    ["a", 1],
    ["b", 2],
  ]);
});

test("only the newest messages are kept", () => {
  const { count, messages } = logOf(...Array.from({ length: KEPT + 3 }, (_, at) => `m${at}`));
  expect([count, messages.length, messages[0]?.number]).toEqual([KEPT + 3, KEPT, 4]);
});

test("what is no message has no effect", () => {
  const log = logOf("a");
  const odd: unknown[] = [null, undefined, 1, "text", [], {}, draft("a")];
  const spoilt = [{ text: "" }, { text: "  " }, { text: "x".repeat(2001) }, { name: 1 }, { at: "now" }, { id: "" }];
  for (const value of [...odd, ...spoilt.map((part) => ({ ...draft("b"), ...part }))])
    expect(append(log, value)).toBe(log);
});

test("a state that is no log is an empty one", () => {
  const log = logOf("a");
  expect(soundLog(log)).toBe(log);
  for (const odd of [
    null,
    1,
    {},
    { ...log, count: "1" },
    { ...log, messages: {} },
    { ...log, messages: [draft("a")] },
  ]) {
    expect(soundLog(odd)).toBe(EMPTY);
    expect(append(odd as Log, draft("b")).count).toBe(1);
  }
});

test("nothing but the parts of a message gets into the log", () => {
  expect(append(EMPTY, { ...draft("a"), number: 99, more: "x" }).messages[0]).toEqual({ ...draft("a"), number: 1 });
});

test("readers stand at the last message that they have seen", () => {
  const log = append(logOf("a", "b"), draft("c", "bo"));
  const marks = (entries: readonly (readonly [string, number])[]): Map<string, Mark> =>
    new Map(entries.map(([person, number]) => [person, { name: person.toUpperCase(), number }]));
  const readers = (...entries: (readonly [string, number])[]) => [...readersOf(log.messages, marks(entries), "ada")];
  expect(readers(["bo", 1], ["cy", 1], ["di", 2])).toEqual([
    [1, ["BO", "CY"]],
    [2, ["DI"]],
  ]);
  // The own mark, one that is older than all, one at an own message, and one from an odd program.
  expect(readers(["ada", 2], ["cy", 0], ["bo", 3], ["di", 99])).toEqual([[3, ["DI"]]]);
});
