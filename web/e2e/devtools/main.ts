/**
 * A small application with devtools: a shared list, and a pointer. The address has the server, a
 * room and a name; with `second`, the page joins another room, too.
 */

import { awareness, connect } from "groupwire";
import { defineRoom } from "groupwire/schema";
import { list, shared } from "groupwire/shared";

const { searchParams } = new URL(location.href);
const [server = "", name = "", room = "", second = ""] = ["server", "name", "room", "second"].map(
  (key) => searchParams.get(key) ?? undefined,
);

const board = defineRoom({
  channels: { pointer: awareness({ maxRate: 25, deadline: 250 }) },
  shared: shared({ entries: list() }),
});
const joined = board.join(connect, server, room, { presence: { name } });
const { entries } = joined.shared;
joined.channels.pointer.on("message", () => {});

const element = <E extends HTMLElement>(id: string): E => document.getElementById(id) as E;
const draw = (): void =>
  element("list").replaceChildren(
    ...(entries.value as readonly string[]).map((text) =>
      Object.assign(document.createElement("li"), { textContent: text }),
    ),
  );
entries.subscribe(draw);
element<HTMLFormElement>("form").addEventListener("submit", (event) => {
  event.preventDefault();
  entries.push(element<HTMLInputElement>("entry").value);
});
addEventListener("pointermove", ({ clientX: x, clientY: y }) => joined.channels.pointer.send({ x, y }));

/** Takes the devtools away again. */
let end = (): void => {};

/** What the test reads and calls. */
Object.assign(window, {
  seen: {
    get status() {
      return joined.room.status;
    },
    joined,
    end: () => end(),
  },
});

/** A value of the application's own, which the devtools show, too. */
const draft = {
  get value() {
    return element<HTMLInputElement>("entry").value;
  },
  subscribe: () => () => {},
};

// As an application does it in development.
void import("groupwire/devtools").then(({ devtools }) => {
  const ends = [devtools(joined, { data: { draft } })];
  if (second !== "") ends.push(devtools(connect(server, second)));
  end = () => ends.forEach((end) => end());
});
