/** Pages in simulated rooms: bad networks, ends of servers and pages, late joiners. */

import "../../../web/common/test/dom.js";
import type { Connect } from "groupwire/schema";
import { simulate, transaction, type Simulation, type SimulationOptions } from "groupwire/testing";
import { flushSync } from "react-dom";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { App } from "../src/app";

// The classes of the page, not those of Node.
const { Event, HTMLTextAreaElement } = window;
// Of Node, whose types the tests do not have.
declare const setImmediate: (run: (value: unknown) => void) => void;

const ends: (() => void)[] = [];
let isHidden: boolean;
beforeEach(() => {
  let count = 0;
  // The ids of messages; jsdom has no others.
  vi.stubGlobal("crypto", { randomUUID: () => `id-${(count += 1)}` });
  // In jsdom pages are hidden.
  isHidden = false;
  vi.spyOn(document, "hidden", "get").mockImplementation(() => isHidden);
});
afterEach(() => {
  for (const end of ends.splice(0).reverse()) end();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

function start(options: SimulationOptions = {}): Simulation {
  const net = simulate({ seed: 7, ...options, fakeTimers: true });
  ends.push(() => net.end());
  return net;
}

/**
 * Advances until nothing more happens in the room and in the pages, whose effects may send
 * messages.
 */
async function settle(net: Simulation): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    await net.settle();
    await rendered();
  }
}

/** Goes on by some time. */
async function run(net: Simulation, ms: number): Promise<void> {
  await rendered();
  await net.run(ms);
  await rendered();
}

/** Lets React do what it has scheduled, in real time. */
async function rendered(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** The page of one person. */
class Page {
  readonly element = document.createElement("div");
  readonly #close: () => void;
  isOpen = true;

  constructor(
    net: Simulation,
    readonly name: string,
    id = name,
  ) {
    const root = createRoot(this.element);
    document.body.append(this.element);
    this.#close = () => {
      flushSync(() => root.unmount());
      this.element.remove();
    };
    // A function of its own for each page: what has the same one shares a connection.
    const connect: Connect = (...all) => net.connect(...all);
    const person = { id, name };
    flushSync(() => root.render(<App server="http://test" room="chat" person={person} connect={connect} />));
    ends.push(() => this.close());
  }

  close(): void {
    if (this.isOpen) this.#close();
    this.isOpen = false;
  }

  write(text: string): void {
    const area = this.element.querySelector("textarea") as HTMLTextAreaElement;
    // React listens to changes that its own setter did not make.
    const { set } = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value") as PropertyDescriptor;
    flushSync(() => {
      set?.call(area, text);
      area.dispatchEvent(new Event("input", { bubbles: true }));
    });
  }

  send(text: string): void {
    this.write(text);
    flushSync(() => this.element.querySelector<HTMLButtonElement>("form button")?.click());
  }

  /** The texts of some elements. */
  all(selector: string): string[] {
    return [...this.element.querySelectorAll(selector)].map(({ textContent }) => textContent?.trim() ?? "");
  }

  get texts(): string[] {
    return this.all(".text");
  }
}

test("messages reach everybody once and in one order, whatever the network does", async () => {
  const net = start({ loss: 0.1, jitter: 60, durability: "local", snapshotAfter: 5 });
  const [ada, bo] = [new Page(net, "Ada"), new Page(net, "Bo")];
  await settle(net);
  ada.send("one");
  bo.send("two");
  await run(net, 300);
  net.restartServer({ downFor: 1500 });
  ada.send("three");
  bo.send("four");
  await settle(net);
  expect([...ada.texts].sort()).toEqual(["four", "one", "three", "two"]);
  expect(bo.texts).toEqual(ada.texts);
  const late = new Page(net, "Cy");
  await settle(net);
  expect(late.texts).toEqual(ada.texts);
});

test("a message is on its way, then saved, or sent if nothing outlives the server", async () => {
  for (const [durability, word] of [
    ["local", "Saved"],
    ["memory", "Sent"],
  ] as const) {
    const net = start({ durability });
    const ada = new Page(net, "Ada");
    await settle(net);
    ada.send("one");
    await rendered();
    expect(ada.all(".from small")).toEqual(["Sending…"]);
    await settle(net);
    expect(ada.all(".from small")).toEqual([word]);
    ada.close();
    net.end();
  }
});

test("what is written without a network waits for it, and each message by itself", async () => {
  const net = start({ durability: "local" });
  const [ada, bo] = [new Page(net, "Ada"), new Page(net, "Bo")];
  await settle(net);
  ada.send("one");
  bo.send("and one of Bo");
  await settle(net);
  net.partition("a", 19_000);
  ada.send("two");
  await run(net, 9000);
  // There is no new message that could be marked as seen.
  for (isHidden of [true, false]) {
    document.dispatchEvent(new Event("visibilitychange"));
    await run(net, 1000);
  }
  ada.send("three");
  await rendered();
  expect(ada.all(".connection")[0]).toContain("The connection is lost");
  expect(ada.all(".from small")).toEqual(["Saved", "Waiting for the network", "Waiting for the network"]);
  expect(bo.all("header li")).toEqual(["Ada away"]);
  const leave = new Event("beforeunload", { cancelable: true });
  window.dispatchEvent(leave);
  expect(leave.defaultPrevented).toBe(true);
  await settle(net);
  expect(ada.all(".from small")).toEqual(["Saved", "Saved", "Saved"]);
  expect(bo.texts).toEqual(["one", "and one of Bo", "two", "three"]);
  const again = new Event("beforeunload", { cancelable: true });
  window.dispatchEvent(again);
  expect(again.defaultPrevented).toBe(false);
});

test("the history outlives a server that keeps nothing, as long as somebody is here", async () => {
  const net = start({ durability: "memory" });
  const [ada, bo] = [new Page(net, "Ada"), new Page(net, "Bo")];
  await settle(net);
  ada.send("one");
  await settle(net);
  net.restartServer();
  await settle(net);
  bo.send("two");
  await settle(net);
  expect(ada.texts).toEqual(["one", "two"]);
  const late = new Page(net, "Cy");
  await settle(net);
  expect(late.texts).toEqual(["one", "two"]);
});

test("who has seen what", async () => {
  const net = start();
  const [ada, bo] = [new Page(net, "Ada"), new Page(net, "Bo")];
  await settle(net);
  ada.send("one");
  await settle(net);
  expect(ada.all(".seen")).toEqual(["Seen by Bo"]);
  expect(bo.all(".seen")).toEqual([]);
  bo.close();
  await settle(net);
  ada.send("two");
  await settle(net);
  // Bo has seen the first one, also after leaving.
  expect(ada.all(".message").map((text) => text.includes("Seen by Bo"))).toEqual([true, false]);
  const again = new Page(net, "Bo", "Bo");
  await settle(net);
  expect(ada.all(".message").map((text) => text.includes("Seen by Bo"))).toEqual([false, true]);
  expect(again.texts).toEqual(["one", "two"]);
});

test("a page that is not visible has not seen anything", async () => {
  const net = start();
  const [ada] = [new Page(net, "Ada"), new Page(net, "Bo")];
  await settle(net);
  isHidden = true;
  document.dispatchEvent(new Event("visibilitychange"));
  ada.send("one");
  await settle(net);
  expect(ada.all(".seen")).toEqual([]);
  isHidden = false;
  document.dispatchEvent(new Event("visibilitychange"));
  await settle(net);
  expect(ada.all(".seen")).toEqual(["Seen by Bo"]);
});

test("who types is shown, until the message is sent, the text is gone, or nothing more is heard", async () => {
  const net = start();
  const [ada, bo] = [new Page(net, "Ada"), new Page(net, "Bo")];
  await settle(net);
  bo.write("h");
  await run(net, 500);
  expect(ada.all(".typing")).toEqual(["Bo is typing…"]);
  bo.send("hi");
  await run(net, 500);
  expect(ada.all(".typing")).toEqual([""]);
  bo.write("a");
  await run(net, 500);
  expect(ada.all(".typing")).toEqual(["Bo is typing…"]);
  await run(net, 7000);
  expect(ada.all(".typing")).toEqual([""]);
  bo.write("ab");
  await run(net, 500);
  expect(ada.all(".typing")).toEqual(["Bo is typing…"]);
  net.closeTab("b");
  await run(net, 500);
  expect(ada.all(".typing")).toEqual([""]);
});

test("after a loss of the room nobody types who only has the number of somebody who did", async () => {
  const net = start();
  const [ada, bo] = [new Page(net, "Ada"), new Page(net, "Bo")];
  await settle(net);
  bo.write("h");
  await run(net, 500);
  expect(ada.all(".typing")).toEqual(["Bo is typing…"]);
  net.crashTab("b");
  net.partition("a", 2000);
  net.restartServer();
  // One of them has Bo's number.
  for (const name of ["Cy", "Di"]) new Page(net, name);
  await run(net, 3500);
  expect(ada.all(".typing")).toEqual([""]);
});

test("people come, change their names and leave", async () => {
  const net = start();
  const ada = new Page(net, "Ada");
  await settle(net);
  const bo = new Page(net, "Bo");
  await settle(net);
  expect(ada.all(".news")).toEqual(["Bo joined."]);
  // Ada was there before.
  expect([bo.all("header li"), bo.all(".news")]).toEqual([["Ada"], [""]]);
  const field = bo.element.querySelector("input") as HTMLInputElement;
  field.value = "Bob";
  flushSync(() => field.dispatchEvent(new Event("focusout", { bubbles: true })));
  await settle(net);
  expect(ada.all("header li")).toEqual(["Bob"]);
  bo.send("hello");
  await settle(net);
  expect(ada.all(".from b")).toEqual(["Bob"]);
  bo.close();
  await settle(net);
  expect(ada.all("header li")).toEqual([]);
  expect(ada.all(".news")).toEqual(["Bob left."]);
});

test("a late joiner sees the last messages, and older ones page by page", async () => {
  const net = start({ snapshotAfter: 5 });
  const ada = new Page(net, "Ada");
  await settle(net);
  for (let number = 1; number <= 70; number += 1) ada.send(`message ${number}`);
  await settle(net);
  const bo = new Page(net, "Bo");
  await settle(net);
  const older = (): void => flushSync(() => bo.element.querySelector<HTMLButtonElement>(".older button")?.click());
  expect([bo.texts.length, bo.texts[0]]).toEqual([30, "message 41"]);
  older();
  expect([bo.texts.length, bo.texts[0]]).toEqual([60, "message 11"]);
  older();
  expect([bo.texts.length, bo.texts[0], bo.texts.at(-1)]).toEqual([70, "message 1", "message 70"]);
  expect(bo.all(".older")).toEqual(["This is the beginning."]);
});

test("what an odd program sends does not show, and breaks nothing", async () => {
  const net = start();
  const ada = new Page(net, "Ada");
  await settle(net);
  const odd = net.join({ name: "odd", room: "chat", presence: { id: 1, name: { first: "x" } } });
  const channel = odd.channel("shared", transaction({ departures: true }));
  channel.on("message", () => {});
  const actions: unknown[] = [null, 1, { text: "x" }, { id: "x", person: "x", name: "x", text: 5, at: 1 }];
  actions.forEach((action, at) => channel.send(JSON.stringify(["odd", at + 1, "log", "a", action])));
  channel.send(JSON.stringify(["odd", 9, "marks", "s", "Bo", { name: 1 }]));
  channel.send("no JSON");
  ada.send("one");
  await settle(net);
  expect(ada.texts).toEqual(["one"]);
  expect(ada.all(".seen")).toEqual([]);
  expect(ada.all("header li")).toEqual(["Somebody"]);
});
