/**
 * Properties that a program sets, and `configure`: what is wrong is told at once, and names the
 * property.
 */

import { awareness } from "groupwire";
import { expect, test } from "vitest";
import type { Cursors, Follower, Lock, Minimap, SelectionFrames } from "../src/index.js";
import { configure, join, put, start } from "./page.js";

const wrong = (message: string): Error =>
  expect.objectContaining({
    name: "GroupwireError",
    code: "invalid-argument",
    message: expect.stringContaining(message) as string,
  }) as Error;

type All = Cursors & Follower & Lock & Minimap & SelectionFrames;

test.each<readonly [element: string, set: (widget: All) => unknown, message: string]>([
  ["gw-cursors", (widget) => (widget.room = "demo" as never), "the property `room` of <gw-cursors> must be a room of"],
  ["gw-cursors", (widget) => (widget.room = {} as never), "`room` of <gw-cursors> must be a room of `connect`"],
  ["gw-cursors", (widget) => (widget.texts = "x" as never), "`texts` of <gw-cursors> must be an object, not a string"],
  ["gw-cursors", (widget) => (widget.target = "#main" as never), "`target` of <gw-cursors> must be an element"],
  ["gw-cursors", (widget) => (widget.coords = "percent" as never), '`coords` of <gw-cursors> must be "px", "fraction"'],
  [
    "gw-cursors",
    (widget) => (widget.read = {} as never),
    "`read` of <gw-cursors> must be a function, not another object",
  ],
  ["gw-cursors", (widget) => (widget.write = 5 as never), "`write` of <gw-cursors> must be a function, not a number"],
  ["gw-cursors", (widget) => (widget.held = "" as never), "`held` of <gw-cursors> must be a function, not a string"],
  ["gw-follow", (widget) => (widget.view = [] as never), "`view` of <gw-follow> must be a function"],
  [
    "gw-minimap",
    (widget) => (widget.world = [1, 2] as never),
    "`world` of <gw-minimap> must be a list of four numbers",
  ],
  [
    "gw-selection",
    (widget) => (widget.selected = "a" as never),
    "`selected` of <gw-selection> must be a list of texts",
  ],
  [
    "gw-selection",
    (widget) => (widget.boxOf = 1 as never),
    "`boxOf` of <gw-selection> must be a function, not a number",
  ],
  ["gw-lock", (widget) => (widget.lock = {} as never), "`lock` of <gw-lock> must be a lock of `groupwire/shared`"],
])("<%s> refuses a wrong property", (element, set, message) => {
  const widget = put<All>(`<${element}></${element}>`);
  expect(() => set(widget)).toThrow(wrong(message));
});

test("frameworks set properties to null and undefined", () => {
  const cursors = put<All>("<gw-cursors></gw-cursors>");
  for (const name of ["room", "target", "coords", "read", "write", "held"] as const)
    for (const none of [undefined, null]) cursors[name] = none as never;
  const selection = put<All>("<gw-selection></gw-selection>");
  selection.selected = null as never;
  expect(selection.selected).toEqual([]);
});

test.each([
  [null, "the argument of `configure` must be an object"],
  ["room", "the argument of `configure` must be an object"],
  [{ romm: 1 }, "`romm` of `configure` must be one of room, rooms, texts, person"],
  [{ room: "demo" }, "`room` of `configure` must be a room of `connect`"],
  [{ person: {} }, "`person` of `configure` must be a function"],
])("configure refuses %o", (settings, message) => {
  expect(() => configure(settings as never)).toThrow(wrong(message));
});

test("a widget takes the channel as the application has opened it, and tells others of other options", async () => {
  const net = start();
  const room = join(net, "Me");
  const own = room.channel("cursor", awareness({ maxRate: 5, loss: 0.2 }));
  put("<gw-cursors></gw-cursors>");
  configure({ room });
  await net.settle();
  expect(own.qos).toMatchObject({ maxRate: 5, loss: 0.2 });
  put("<gw-selection></gw-selection>");
  await net.settle();
  const later = (): unknown => room.channel("selection", awareness({ maxRate: 30 }));
  expect(later).toThrow(expect.objectContaining({ code: "qos-differs" }));
  room.leave();
});
