/** The devtools on rooms in simulated time. */

import { expect, test, vi } from "vitest";
import { awareness, transaction } from "../../src/testing.js";
import { defineRoom } from "../../src/schema.js";
import { counter, list, map, shared } from "../../src/shared.js";
import { RoomHandle } from "../../src/store.js";
import { all, devtools, join, one, press, show, start, tab, texts } from "./page.js";

const board = defineRoom({ shared: shared({ shapes: map(), score: counter(), steps: list() }) });

test("a badge says how the room is, and the devtools are taken away again", async () => {
  const net = start();
  const room = join(net, "Ada");
  const end = show(room);
  await net.run(1);
  expect(texts(".badge .state")).toEqual(["Connecting"]);
  await net.settle();
  await net.run(200);
  expect(texts(".badge .state")).toEqual(["Connected"]);
  expect(one(".badge").getAttribute("aria-label")).toBe("Groupwire: Connected. Open the devtools");
  net.partition(room);
  await net.until(() => texts(".badge .state")[0] === "Reconnecting");
  await net.until(() => one(".badge").classList.contains("bad"));
  net.heal(room);
  await net.settle();
  await net.run(200);
  expect(one(".badge").classList.contains("good")).toBe(true);
  room.leave();
  await net.run(200);
  expect(texts(".badge .state")).toEqual(["Closed"]);
  end();
  end();
  expect(document.querySelector("gw-devtools")).toBeNull();
});

test("several rooms share a badge that says the worst, and the panel chooses between them", async () => {
  const net = start();
  const [ada, bo] = [net.join({ room: "first" }), net.join({ room: "second" })];
  show(ada);
  const end = show(bo);
  await net.settle();
  expect(document.querySelectorAll("gw-devtools")).toHaveLength(1);
  bo.leave();
  await net.run(200);
  expect(texts(".badge .state")).toEqual(["Connected"]);
  await tab(net, "Connection");
  const rooms = one<HTMLSelectElement>(".rooms");
  expect([...rooms.options].map(({ text }) => text)).toEqual(["first", "second"]);
  rooms.value = "1";
  rooms.dispatchEvent(new Event("input"));
  await net.run(200);
  expect(texts(".room .state")).toEqual(["Closed"]);
  end();
  await net.run(200);
  expect(texts(".room .state")).toEqual(["Connected"]);
  expect(texts(".name")).toEqual(["first"]);
});

test("connection: transport, why, and why not the others", async () => {
  const net = start({ transports: ["websocket"] });
  const room = join(net, "Ada");
  show(room);
  await net.settle();
  await tab(net, "Connection");
  const facts = Object.fromEntries(all(".facts > div").map((row) => [...row.children].map((one) => one.textContent)));
  expect(facts).toMatchObject({
    Status: "connected",
    Transport: "WebSocket",
    Why: room.transport?.why,
    Participant: `${room.self?.id}`,
    Reconnections: "0",
  });
  expect(facts["Round trip"]).toMatch(/^\d+ ms$/);
  expect(facts["Connected"]).toMatch(/^since \d\d:\d\d:\d\d/);
  expect(texts(".transports .used")).toEqual(["WebSocket in use"]);
  expect(texts(".transports li")[0]).toMatch(/^WebTransport not here/);
  expect(texts(".log li").some((line) => line.includes("Connected."))).toBe(true);
});

test("packets: the messages of each, with their sizes", async () => {
  const net = start({ transports: ["websocket"] });
  const [ada, bo] = [join(net, "Ada"), join(net, "Bo")];
  show(ada);
  const [mine, theirs] = [ada, bo].map((room) => room.channel("chat", transaction()));
  const pointer = ada.channel("pointer", awareness());
  bo.channel("pointer", awareness());
  mine?.on("message", () => {});
  theirs?.on("message", () => {});
  await net.settle();
  await tab(net, "Packets");
  const clear = all(".tools button")[1];
  clear?.click();
  mine?.send("hello there");
  pointer.send("1,2");
  pointer.send("3,4", { key: "other" });
  await net.settle();
  await net.run(600);
  const rows = (): readonly (readonly [string, string])[] =>
    all(".packet").map((row) => [
      row.querySelector(".way")?.textContent ?? "",
      row.querySelector(".what")?.textContent ?? "",
    ]);
  expect(rows()).toContainEqual(["→ out", "chat, pointer ×2"]);
  expect(rows()).toContainEqual(["← in", "chat"]);
  const select = (what: string): void => {
    const row = all(".packet").find((row) => row.querySelector(".what")?.textContent === what);
    row?.dispatchEvent(new Event("pointerdown", { bubbles: true, composed: true }));
  };
  select("chat, pointer ×2");
  expect(texts(".carried li")).toEqual(["chat 11 Bhello there", "pointer 3 B1,2", "pointer 3 B3,4"]);
  expect(texts(".contents p")[1]).toMatch(/^17 B of messages, \d+ B of payload, \d+ B in all$/);
  // The list stops, so that the selected packet does not move away; new packets are still recorded.
  theirs?.send("an answer");
  await net.settle();
  await net.run(600);
  expect(rows()).not.toContainEqual(["← in", "chat ×2"]);
  const before = rows().length;
  one(".tools .on").click();
  await net.run(100);
  expect(rows().length).toBeGreaterThan(before);
  select("chat");
  expect(texts(".carried li")).toEqual([`chat 9 B, from participant ${bo.self?.id}an answer`]);
  // The own message comes back as a number, not as its text.
  const list = one(".packets");
  press(list, "End");
  press(list, "ArrowUp");
  expect(list.getAttribute("aria-activedescendant")).toMatch(/^packet-\d+$/);
  expect(texts(".carried li").length).toBeGreaterThan(0);
});

test("packets are filtered by direction and by text", async () => {
  const net = start({ transports: ["websocket"] });
  const [ada, bo] = [join(net, "Ada"), join(net, "Bo")];
  show(ada);
  const [mine, theirs] = [ada, bo].map((room) => room.channel("chat", transaction()));
  mine?.on("message", () => {});
  theirs?.on("message", () => {});
  await net.settle();
  mine?.send("apple");
  await net.settle();
  theirs?.send("pear");
  await net.settle();
  await tab(net, "Packets");
  const filter = (text: string, way: string): string[] => {
    const [input, select] = [one<HTMLInputElement>("input[type=search]"), one<HTMLSelectElement>(".tools select")];
    input.value = text;
    select.value = way;
    input.dispatchEvent(new Event("input"));
    return texts(".packet .way");
  };
  expect(filter("pear", "")).toEqual(["← in"]);
  // Sent, and confirmed.
  expect(filter("APPLE", "")).toEqual(["← in", "→ out"]);
  expect(filter("apple", "out")).toEqual(["→ out"]);
  expect(filter("plum", "")).toEqual([]);
  const withMessages = filter("", "").length;
  const only = one<HTMLInputElement>("input[type=checkbox]");
  only.checked = false;
  only.dispatchEvent(new Event("input"));
  expect(all(".packet").length).toBeGreaterThan(withMessages);
});

test("channels: what each promises, and how much goes through it", async () => {
  const net = start();
  const [ada, bo] = [join(net, "Ada"), join(net, "Bo")];
  show(ada);
  const options = awareness({ maxRate: 25, deadline: 250, loss: 0.1 });
  ada.channel("pointer", options);
  const theirs = bo.channel("pointer", options);
  await net.settle();
  await tab(net, "Channels");
  for (let at = 0; at < 20; at += 1) {
    theirs.send(`${at}`.padStart(10));
    await net.run(100);
  }
  await net.run(600);
  const cells = [...(one("tbody tr").children as Iterable<Element>)].map(({ textContent }) => textContent ?? "");
  expect(cells[0]).toBe("pointerawareness");
  expect(cells[1]).toBe("at most 10 % may miss, within 250 ms, at most 25 a second, newest value of each key");
  expect(cells[2]).toMatch(/^kept 0 % of \d+ missed in 10 s, median \d+ ms/);
  expect(cells[3]).toMatch(/^[\d.]+\/s, \d+ B\/s; 20 messages, 200 B$/);
  expect(cells[4]).toBe("0/s, 0 B/s; 0 messages, 0 B");
});

test("a contract that is missed shows in the badge and among the problems", async () => {
  const net = start({ transports: ["webtransport"] });
  const [ada, bo] = [join(net, "Ada"), join(net, "Bo")];
  show(ada);
  const options = awareness({ deadline: 100, loss: 0.01 });
  ada.channel("pointer", options);
  const theirs = bo.channel("pointer", options);
  await net.settle();
  net.change(ada, { down: { delay: 400 } });
  const send = async (): Promise<void> => {
    for (let at = 0; at < 50; at += 1) {
      theirs.send(`${at}`);
      await net.run(100);
    }
  };
  for (let round = 0; round < 6 && texts(".badge .state")[0] !== "Contract missed"; round += 1) await send();
  expect(texts(".badge .state")).toEqual(["Contract missed"]);
  await tab(net, "Problems");
  expect(texts(".log .contract").some((line) => line.includes("pointer: "))).toBe(true);
  expect(texts("#tab-channels .mark")).toEqual(["1 missed"]);
});

test("people and their presence", async () => {
  const net = start();
  const [ada, bo] = [join(net, "Ada"), join(net, "Bo")];
  show(ada);
  await net.settle();
  await tab(net, "People");
  expect(texts("#tab-people .mark")).toEqual(["2"]);
  expect(texts(".people > li > b")).toEqual([`Participant ${ada.self?.id}`, `Participant ${bo.self?.id}`]);
  expect(texts(".people details .leaf")).toEqual(['name "Ada"', 'name "Bo"']);
  bo.setPresence({ name: "Bo", cursor: [1, 2] });
  await net.settle();
  await net.run(600);
  expect(texts(".people details details > summary")).toEqual(["cursor list of 2"]);
  bo.leave();
  await net.settle();
  await net.run(600);
  expect(texts(".people > li > b")).toEqual([`Participant ${ada.self?.id}`]);
});

test("shared data of any room object, and values of the application, as they change", async () => {
  const net = start();
  const joined = board.join(net.connect, "http://test", "demo");
  const draft = { text: "not sent" };
  show(joined.room, {
    data: {
      draft,
      broken: {
        toJSON: () => {
          throw new Error("no JSON");
        },
      },
    },
  });
  await net.settle();
  await tab(net, "Data");
  expect(texts(".tree .leaf")).toEqual([
    "shapes empty map",
    "score 0",
    "steps empty list",
    "broken cannot be read: Error: no JSON",
  ]);
  joined.shared.score.add(2);
  joined.shared.shapes.set("a", { x: 1 });
  await net.run(600);
  expect(texts(".tree .leaf")).toContain("score 2");
  expect(texts(".tree summary")).toEqual(["shapes map of 1", "draft object of 1"]);
  const shapes = one<HTMLDetailsElement>(".tree details");
  shapes.open = true;
  shapes.dispatchEvent(new Event("toggle"));
  expect(texts(".tree details summary")).toContain("a object of 1");
  // The user has opened this value, and it stays open.
  joined.shared.shapes.set("b", { x: 2 });
  await net.run(600);
  expect(texts(".tree details summary")).toContain("b object of 1");
});

test("a handle is shown from its first connection on, and its next rooms, too", async () => {
  const net = start();
  const handle = new RoomHandle({ room: board, url: "http://test", name: "demo", connect: net.connect });
  show(handle);
  await net.run(200);
  expect(texts(".badge .state")).toEqual(["No room"]);
  const release = handle.retain();
  await net.settle();
  await net.run(200);
  expect(texts(".badge .state")).toEqual(["Connected"]);
  release();
});

test("pending transactions wait, are sent, and are confirmed", async () => {
  const net = start({ transports: ["websocket"] });
  const room = join(net, "Ada");
  const early = room.channel("chat", transaction());
  early.on("message", () => {});
  await net.settle();
  show(room);
  await tab(net, "Pending");
  expect(texts(".page p")).toContain("Everything is ordered by the room.");
  net.change(room, { delay: 2000 });
  early.send("one");
  await net.run(700);
  expect(texts(".waiting li").map((text) => text.replace(/since.*\)/, ""))).toEqual([
    "sent, not confirmed chat, 3 B one",
  ]);
  expect(texts("#tab-pending .mark")).toEqual(["1"]);
  net.change(room, { delay: 20 });
  await net.settle();
  await net.run(600);
  expect(all(".waiting li")).toEqual([]);
  expect(texts(".page p")).toContain("Everything is ordered by the room.");
});

test("transactions that were sent before the devtools looked are counted", async () => {
  const net = start();
  const room = join(net, "Ada");
  const chat = room.channel("chat", transaction());
  chat.on("message", () => {});
  await net.settle();
  net.change(room, { delay: 2000 });
  chat.send("early");
  await net.run(100);
  show(room);
  chat.send("late");
  await tab(net, "Pending");
  expect(texts(".waiting code")).toEqual(["late"]);
  expect(texts(".page p")).toContain("and 1 more");
  net.change(room, { delay: 20 });
  await net.settle();
  await net.run(600);
  expect(all(".waiting li")).toEqual([]);
});

test("the switch: offline, what waits meanwhile, and back", async () => {
  const net = start();
  const room = join(net, "Ada");
  const chat = room.channel("chat", transaction());
  const heard = vi.fn();
  chat.on("message", heard);
  await net.settle();
  show(room);
  await tab(net, "Network");
  await net.settle();
  const [asItIs, , , offline] = all<HTMLInputElement>("input[type=radio]");
  offline?.dispatchEvent(new Event("input"));
  await net.until(() => room.status === "reconnecting");
  await net.run(200);
  expect(texts("#tab-network .mark")).toEqual(["offline"]);
  chat.send("kept");
  await tab(net, "Pending");
  expect(texts(".waiting li b")).toEqual(["waiting"]);
  await net.until(() => room.problem !== undefined);
  await tab(net, "Problems");
  expect(texts(".page p")).toContain("The devtools of this page have switched its network off. (offline)");
  expect(heard).not.toHaveBeenCalled();
  asItIs?.dispatchEvent(new Event("input"));
  await net.settle();
  expect(room.status).toBe("connected");
  expect(heard).toHaveBeenCalledOnce();
  await tab(net, "Pending");
  expect(all(".waiting li")).toEqual([]);
});

test("the switch: delay and loss are felt, and end with the devtools", async () => {
  const net = start({ transports: ["websocket"] });
  const [ada, bo] = [join(net, "Ada"), join(net, "Bo")];
  const [mine, theirs] = [ada, bo].map((room) => room.channel("chat", transaction()));
  mine?.on("message", () => {});
  const times: number[] = [];
  theirs?.on("message", () => times.push(net.now));
  const end = show(ada);
  await tab(net, "Network");
  await net.settle();
  const latency = async (): Promise<number> => {
    const began = net.now;
    mine?.send("x");
    await net.settle();
    return (times.at(-1) ?? 0) - began;
  };
  const usual = await latency();
  const [, delay] = all<HTMLInputElement>("input[type=range]");
  delay!.value = "500";
  delay!.dispatchEvent(new Event("input"));
  expect(await latency()).toBeGreaterThan(usual + 450);
  expect(texts("#tab-network .mark")).toEqual(["worse"]);
  end();
  expect(await latency()).toBeLessThan(usual + 50);
});

test("errors that nobody listens to are still written to the console", async () => {
  const net = start();
  const room = join(net, "Ada");
  show(room);
  await net.settle();
  const said = vi.spyOn(console, "error").mockImplementation(() => {});
  const chat = room.channel("nobody", transaction());
  const other = join(net, "Bo").channel("nobody", transaction());
  await net.settle();
  for (let at = 0; at < 5000; at += 1) if (other.send("x") !== "accepted") await net.settle();
  await net.settle();
  expect(said).toHaveBeenCalled();
  expect(chat.name).toBe("nobody");
  await tab(net, "Problems");
  expect(texts(".log .error").some((line) => line.includes("no-listener"))).toBe(true);
});

test("nothing is drawn while the panel is closed, and ten times a second while it is open", async () => {
  const net = start({ transports: ["websocket"] });
  const [ada, bo] = [join(net, "Ada"), join(net, "Bo")];
  const [mine, theirs] = [ada, bo].map((room) => room.channel("chat", transaction()));
  mine?.on("message", () => {});
  theirs?.on("message", () => {});
  show(ada);
  await net.settle();
  const frames = vi.spyOn(globalThis, "requestAnimationFrame");
  const burst = async (): Promise<number> => {
    const before = frames.mock.calls.length;
    for (let at = 0; at < 100; at += 1) {
      theirs?.send(`${at}`);
      await net.run(10);
    }
    return frames.mock.calls.length - before;
  };
  expect(await burst()).toBe(0);
  await tab(net, "Packets");
  const drawn = await burst();
  expect(drawn).toBeGreaterThan(5);
  expect(drawn).toBeLessThanOrEqual(10);
  expect(all(".packet").length).toBeLessThanOrEqual(200);
  frames.mockRestore();
});

test("the keyboard opens, moves between tabs, resizes and closes", async () => {
  const net = start();
  show(join(net, "Ada"));
  await net.settle();
  one(".badge").click();
  await net.run(200);
  const root = document.querySelector("gw-devtools")!.shadowRoot!;
  expect(root.activeElement?.id).toBe("tab-connection");
  press(one("#tab-connection"), "ArrowRight");
  await net.run(200);
  expect(root.activeElement?.id).toBe("tab-channels");
  expect(one("#tab-channels").getAttribute("aria-selected")).toBe("true");
  press(one("#tab-channels"), "ArrowLeft");
  press(one("#tab-connection"), "ArrowLeft");
  await net.run(200);
  expect(root.activeElement?.id).toBe("tab-network");
  const edge = one(".edge");
  const height = Number(edge.getAttribute("aria-valuenow"));
  press(edge, "ArrowUp");
  await net.run(200);
  expect(edge.getAttribute("aria-valuenow")).toBe(`${height + 24}`);
  press(edge, "Escape");
  await net.run(200);
  expect(all(".panel")).toEqual([]);
  expect(root.activeElement?.className).toContain("badge");
  // The next visit finds the devtools as they were left.
  expect(JSON.parse(localStorage.getItem("groupwire devtools") ?? "")).toMatchObject({
    height: height + 24,
    isOpen: false,
    tab: "Network",
  });
});

test("wrong arguments are refused in words", () => {
  expect(() => devtools(5 as never)).toThrow(/the room of `devtools`/);
  expect(() => devtools({} as never)).toThrow(/devtools cannot look into this room/);
  expect(() => devtools({ room: {} } as never, { values: {} } as never)).toThrow(/`devtools`/);
});
