/**
 * Measures how many bytes one more participant is sent, before and after, in the same session: Ann
 * acts, and Bo receives. Bytes are those of Bo's TCP connection from the server, with the headers
 * of WebSocket and without those of TCP and IP, from the first action until the last one has
 * arrived.
 */

import { readFileSync } from "node:fs";
import { afterAll, test, vi } from "vitest";
import * as gameAfter from "./src/colyseus/after";
import * as gameBefore from "./src/colyseus/before";
import { startGame } from "./src/colyseus/server";
import * as chatAfter from "./src/socket-io/after";
import * as chatBefore from "./src/socket-io/before";
import { startChat } from "./src/socket-io/server";
import * as rooms from "./src/yjs/after";
import * as hocuspocus from "./src/yjs/hocuspocus-before";
import { startHocuspocus } from "./src/yjs/hocuspocus-server";
import * as yWebsocket from "./src/yjs/y-websocket-before";
import { startYWebsocket } from "./src/yjs/y-websocket-server";
import { startGroupwire } from "./test/groupwire";
import { leavesAtEnd, stopsAtEnd, wireTo, type Running } from "./test/servers";
import { until, untilEqual } from "./test/until";

vi.spyOn(console, "info").mockImplementation(() => {});

const COUNT = 250;
const ws = (url: string) => url.replace("http:", "ws:");
const rows: string[] = [];
afterAll(() => process.stdout.write(`\n${rows.join("\n")}\n`));

/** Waits for the time between two actions of a hand. */
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Counts the bytes of Bo's connection while Ann acts `COUNT` times. */
async function measure(row: string, server: Running, session: (urls: [string, string]) => Promise<Session>) {
  const wire = await wireTo(server);
  const { act, isDone, every } = await session([server.url, wire.url]);
  await pause(1000);
  const before = wire.received;
  for (let at = 0; at < COUNT; at += 1) {
    act(at);
    await pause(every);
  }
  await until(isDone, (done) => done);
  rows.push(`${row}: ${((wire.received - before) / COUNT).toFixed(1)} bytes`);
}

interface Session {
  readonly act: (at: number) => void;
  readonly isDone: () => boolean;
  readonly every: number;
}

/** Words of real text, in their order: the first pages of the guide. */
const WORDS = ["README", "first-room", "presence", "shared-data", "motion"]
  .map((name) => readFileSync(new URL(`../../docs/guide/${name}.md`, import.meta.url), "utf8"))
  .join(" ")
  .split(/\s+/);

/** A line of a chat: three to eight words, which continue the line before. */
function lineOf(at: number): string {
  const begin = Math.floor(at * 5.5);
  return WORDS.slice(begin, begin + 3 + (at % 6)).join(" ");
}

const CHATS = [
  ["Socket.IO", startChat, chatBefore.joinChat],
  ["Groupwire", startGroupwire, chatAfter.joinChat],
] as const;

test.each(CHATS)("the chat on %s", async (name, start, joinChat) => {
  const server = stopsAtEnd(await start());
  const join = async ([near, far]: [string, string], room: string) => {
    const people = [leavesAtEnd(joinChat(near, room, "Ann")), leavesAtEnd(joinChat(far, room, "Bo"))] as const;
    await untilEqual(() => people.map((chat) => chat.people.length), [2, 2]);
    return people;
  };
  await measure(`${name}, a line of chat`, server, async (urls) => {
    const [ann, bo] = await join(urls, "lines");
    return { every: 40, act: (at) => ann.say(lineOf(at)), isDone: () => bo.lines.length === COUNT };
  });
  await measure(`${name}, a position of a pointer`, server, async (urls) => {
    const [ann, bo] = await join(urls, "pointers");
    const act = (at: number) => ann.point(400 + Math.round(300 * Math.sin(at / 20)), 300 + at);
    return { every: 40, act, isDone: () => bo.pointers.get("Ann")?.[1] === 299 + COUNT };
  });
});

const TEXTS = [
  ["y-websocket", startYWebsocket, (url: string, name: string, me: string) => yWebsocket.openText(ws(url), name, { name: me }, { disableBc: true })],
  ["Hocuspocus", startHocuspocus, (url: string, name: string, me: string) => hocuspocus.openText(ws(url), name, { name: me })],
  ["Groupwire", startGroupwire, (url: string, name: string, me: string) => rooms.openText(url, name, { name: me })],
] as const; // prettier-ignore

test.each(TEXTS)("a text on %s", async (name, start, openText) => {
  const server = stopsAtEnd(await start());
  const letters = Array.from({ length: 60 }, (_, at) => lineOf(at)).join(" ");
  await measure(`${name}, a letter that is typed`, server, async ([near, far]) => {
    const [ann, bo] = [leavesAtEnd(openText(near, "text", "Ann")), leavesAtEnd(openText(far, "text", "Bo"))];
    await untilEqual(() => [ann.others, bo.others], [["Bo"], ["Ann"]]); // prettier-ignore
    return { every: 60, act: (at) => ann.text.insert(at, letters[at] ?? ""), isDone: () => bo.text.length === COUNT };
  });
});

const GAMES = [
  ["Colyseus", startGame, gameBefore.joinGame],
  ["Groupwire", startGroupwire, gameAfter.joinGame],
] as const;

test.each(GAMES)("the game on %s", async (name, start, joinGame) => {
  const server = stopsAtEnd(await start());
  await measure(`${name}, a step in the game`, server, async ([near, far]) => {
    const [ann, bo] = [leavesAtEnd(await joinGame(near, "t", "Ann")), leavesAtEnd(await joinGame(far, "t", "Bo"))];
    await untilEqual(() => Object.keys(bo.players).toSorted(), ["Ann", "Bo"]);
    // To and fro, away from the coin.
    const act = (at: number) => ann.step(0, 1 - (at % 2));
    return { every: 60, act, isDone: () => bo.players.Ann?.y === 1 - ((COUNT - 1) % 2) };
  });
});
