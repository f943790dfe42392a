import { transaction } from "groupwire";
import { expect, test } from "vitest";
import type { StatusLine } from "../src/index.js";
import { configure, join, part, press, put, start, textsOf } from "./page.js";

const text = (status: Element): string => textsOf(status, "text")[0] ?? "";

function room(options: object = {}, attributes = "") {
  const net = start(options);
  const me = join(net, "Me");
  configure({ room: me });
  const status = put<StatusLine>(`<gw-status ${attributes}></gw-status>`);
  return { net, me, status, draw: me.channel("draw", transaction()) };
}

test("the connection, its transport, and why", async () => {
  const { net, me, status, draw } = room();
  await net.run(1);
  expect(text(status)).toBe("Connecting…");
  draw.on("message", () => {});
  await net.settle();
  expect(text(status)).toBe("Connected");
  expect(textsOf(status, "transport")).toEqual(["WebTransport"]);
  expect(textsOf(status, "why")[0]).toBe(me.transport?.why);
  net.partition(me);
  await net.until(() => me.status === "reconnecting");
  expect(text(status)).toBe("Reconnecting. Your changes are kept.");
  await net.until(() => me.problem !== undefined);
  expect(text(status)).toBe("Server unreachable. Your changes are kept.");
  expect(textsOf(status, "why")).toEqual(["Nothing answers in the simulated network."]);
  expect(part(status, "dot").getAttribute("part")).toBe("dot reconnecting");
  me.leave();
  await net.run(100);
  expect(text(status)).toBe("Disconnected");
});

test("a stored room says what is saved, and how much is not", async () => {
  const { net, me, status, draw } = room({ durability: "local" });
  draw.on("message", () => {});
  await net.settle();
  expect(text(status)).toBe("Saved");
  expect(textsOf(status, "unsaved")).toEqual(["All changes are confirmed"]);
  net.change(me, { up: { delay: 1000 } });
  draw.send("1");
  draw.send("2");
  await net.run(50);
  // The word changes late, so that it does not flicker.
  expect(text(status)).toBe("Saved");
  await net.run(600);
  expect(text(status)).toBe("Saving…");
  expect(textsOf(status, "unsaved")).toEqual(["2 changes are not confirmed"]);
  expect(textsOf(status, "said")).toEqual(["Saved"]);
  await net.settle();
  expect(text(status)).toBe("Saved");
});

test("a room that is not stored says what is being sent for long", async () => {
  const { net, me, status, draw } = room();
  draw.on("message", () => {});
  await net.settle();
  net.change(me, { up: { delay: 3000 } });
  draw.send("1");
  await net.run(1000);
  expect(text(status)).toBe("Connected");
  await net.run(1000);
  expect(text(status)).toBe("Sending…");
});

test("a page with unsaved changes asks before it is left, if it is told to", async () => {
  const { net, me, status, draw } = room({}, "guard");
  draw.on("message", () => {});
  await net.settle();
  const isAsked = (): boolean => {
    const event = new Event("beforeunload", { cancelable: true });
    window.dispatchEvent(event);
    return event.defaultPrevented;
  };
  expect(isAsked()).toBe(false);
  net.partition(me);
  draw.send("1");
  await net.run(100);
  expect(isAsked()).toBe(true);
  status.removeAttribute("guard");
  await net.run(1);
  expect(isAsked()).toBe(false);
});

test("why a room is closed is said, and Escape closes the details", async () => {
  const net = start({
    authenticate: () => {
      throw new Error("not you");
    },
  });
  configure({ room: join(net, "Me", { token: "x" }) });
  const status = put<StatusLine>("<gw-status></gw-status>");
  await net.until(() => text(status) === "Disconnected");
  expect(textsOf(status, "why")[0]).toContain("not you");
  const details = part(status, "box") as HTMLDetailsElement;
  details.open = true;
  press(part(status, "summary"), "Escape");
  expect(details.open).toBe(false);
});
