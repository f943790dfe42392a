// Measures what the updates of Yjs cost in a room: recordings of real editing, one update for each
// recorded edit, never merged, at most 8 a second of each author, through providers and a room in
// simulated time. For each update and receiver it prints the bytes of the packets' payloads (the
// coded body), of the packets, of the stamps and pings in them, and of the packets with WebSocket's
// headers, and beside them the bytes that y-websocket sends for the same update: 3 bytes of its
// protocol, the update, and the header.
//
// Run it after `make web`: node scripts/yjs-bytes.mjs [--data FOLDER] [--edits N] [--transport
// websocket|webtransport] FOLDER has recordings (*.json.gz) in the format of
// github.com/josephg/editing-traces; ../shared/data/editing if that is there.

import { existsSync, readFileSync, readdirSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { gunzipSync } from "node:zlib";
import { simulate } from "../web/client/dist/testing.js";
import { SimulatedTransport } from "../web/client/dist/testing/transport.js";
import * as Y from "../web/node_modules/yjs/dist/yjs.mjs";
import { GroupwireProvider } from "../web/yjs/dist/index.js";

const DATA = fileURLToPath(new URL("../../shared/data/editing", import.meta.url));
/** The time between two edits of an author, in milliseconds. */
const PERIOD = 125;
/**
 * After this time, in milliseconds, everybody has an edit: the delay of the simulated networks and
 * two ticks of the room.
 */
const REACH = 250;
/**
 * The types of frames (docs/wire/session.md) that hold messages, stamps, and pings with their
 * answers.
 */
const PAYLOADS = [0x06, 0x07, 0x1c, 0x1d];
const STAMPS = [0x22];
const PINGS = [0x0e, 0x0f];

/** The frames of a packet: their types and bytes. */
export function framesOf(packet) {
  const frames = [];
  for (let at = 0; at < packet.length;) {
    const begin = at;
    const tag = packet[at];
    let [length, shift] = [0, 0];
    if ((tag & 0x80) === 0) {
      do length |= (packet[++at] & 0x7f) << shift;
      while (packet[at] & 0x80 && (shift += 7));
    } else length = packet.length - at - 1;
    at += 1 + length;
    frames.push({ type: tag & 0x3f, bytes: at - begin });
  }
  return frames;
}

/** The header of an unmasked WebSocket message. */
export function headerBytes(length) {
  return length < 126 ? 2 : length < 65_536 ? 4 : 10;
}

/**
 * The bytes that y-websocket sends for an update: the numbers of two protocols, the update with its
 * length, and the header.
 */
export function websocketBytes(update) {
  const length = 2 + (update < 128 ? 1 : update < 16_384 ? 2 : 3) + update;
  return length + headerBytes(length);
}

/**
 * The update of each recorded edit, made by a document of its author in the state that the author
 * had: `{ author, at, update }`, with the time in milliseconds at which it is sent.
 */
export function updatesOf({ txns }, limit) {
  const authors = new Map();
  const edits = [];
  for (const [index, { agent = 0, parents = index > 0 ? [index - 1] : [], patches }] of txns
    .slice(0, limit)
    .entries()) {
    const author = authors.get(agent) ?? { doc: documentOf(agent), has: new Set(), free: 0 };
    authors.set(agent, author);
    const missing = ancestors(edits, parents, author.has);
    for (const one of missing) {
      Y.applyUpdate(author.doc, edits[one].update, "others");
      author.has.add(one);
    }
    const heard = parents.filter((parent) => edits[parent].author !== agent).map((parent) => edits[parent].at + REACH);
    const at = Math.max(author.free, ...heard);
    author.free = at + PERIOD;
    edits.push({ author: agent, at, parents, update: edit(author.doc, patches) });
    author.has.add(index);
  }
  return edits;
}

function documentOf(agent) {
  const doc = new Y.Doc();
  // A number like the random one of Yjs, but the same in each run.
  doc.clientID = Math.imul(agent + 1, 0x9e3779b1) >>> 0;
  doc.getText();
  return doc;
}

/** `parents` and all edits before them, except `known` ones, in the order of the recording. */
function ancestors(edits, parents, known) {
  const found = new Set();
  const open = parents.filter((parent) => !known.has(parent));
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    if (found.has(one)) continue;
    found.add(one);
    open.push(...edits[one].parents.filter((parent) => !known.has(parent)));
  }
  return [...found].sort((a, b) => a - b);
}

function edit(doc, patches) {
  let made;
  const keep = (update, origin) => origin === "edit" && (made = update);
  doc.on("update", keep);
  doc.transact(() => {
    for (const [position, deleted, inserted] of patches) {
      if (deleted > 0) doc.getText().delete(position, deleted);
      if (inserted !== "") doc.getText().insert(position, inserted);
    }
  }, "edit");
  doc.off("update", keep);
  // An edit that changes nothing is an update without content.
  return made ?? new Uint8Array([0, 0]);
}

/** Counts what the server sends on the transport that was opened last. */
class Meter {
  #transport = 0;
  isOn = false;
  packets = 0;
  packet = 0;
  header = 0;
  body = 0;
  stamps = 0;
  pings = 0;

  constructor() {
    const { serverSends, serverSendsDatagram } = SimulatedTransport.prototype;
    const add = (...all) => this.#add(...all);
    SimulatedTransport.prototype.serverSends = function (packet) {
      add(this.number, packet, headerBytes(packet.length));
      serverSends.call(this, packet);
    };
    SimulatedTransport.prototype.serverSendsDatagram = function (packet, reports) {
      add(this.number, packet, 0);
      serverSendsDatagram.call(this, packet, reports);
    };
    this.stop = () => Object.assign(SimulatedTransport.prototype, { serverSends, serverSendsDatagram });
  }

  #add(transport, packet, header) {
    this.#transport = Math.max(transport, this.#transport);
    if (!this.isOn || transport !== this.#transport) return;
    this.packets += 1;
    this.packet += packet.length;
    this.header += header;
    for (const { type, bytes } of framesOf(packet)) {
      // A payload without its tag.
      if (PAYLOADS.includes(type)) this.body += bytes - 1;
      if (STAMPS.includes(type)) this.stamps += bytes;
      if (PINGS.includes(type)) this.pings += bytes;
    }
  }
}

/**
 * Replays edits, and counts the bytes that the server sends to one more participant, which only
 * reads.
 */
async function replay(edits, transport) {
  const net = simulate({ seed: 1, transports: [transport] });
  const provide = (name) => new GroupwireProvider(net.join({ name }), new Y.Doc(), { awareness: null });
  const meter = new Meter();
  const names = new Set(edits.map(({ author }) => author));
  const authors = new Map([...names].map((author) => [author, provide(`author ${author}`)]));
  await net.settle();
  const reader = provide("reader");
  await net.settle();
  meter.isOn = true;
  const begin = net.now;
  for (const { author, at, update } of [...edits].sort((a, b) => a.at - b.at)) {
    if (begin + at > net.now) await net.run(begin + at - net.now);
    Y.applyUpdate(authors.get(author).doc, update, "editor");
  }
  await net.settle();
  meter.stop();
  const docs = [reader, ...authors.values()].map(({ doc }) => doc);
  const texts = docs.map((doc) => doc.getText().toString());
  if (texts.some((text) => text !== texts[0])) throw new Error("the participants have different texts");
  for (const doc of docs) doc.destroy();
  net.end();
  return meter;
}

async function main() {
  const { values } = parseArgs({
    options: {
      data: { type: "string", default: DATA },
      edits: { type: "string", default: "Infinity" },
      transport: { type: "string", default: "websocket" },
    },
  });
  const files = existsSync(values.data) ? readdirSync(values.data).filter((name) => name.endsWith(".json.gz")) : [];
  if (files.length === 0) return console.log(`skipped: no recordings (*.json.gz) in ${values.data}`);
  console.log(`over ${values.transport}; bytes for each update and receiver`);
  console.table(Object.fromEntries(await rows(values, files)));
}

async function rows({ data, edits: limit, transport }, files) {
  const rows = [];
  for (const file of files) {
    const edits = updatesOf(JSON.parse(gunzipSync(readFileSync(`${data}/${file}`))), Number(limit));
    const meter = await replay(edits, transport);
    const mean = (sum) => Number((sum / edits.length).toFixed(2));
    const sum = (bytes) => edits.reduce((all, { update }) => all + bytes(update.length), 0);
    const row = {
      authors: new Set(edits.map(({ author }) => author)).size,
      updates: edits.length,
      "bytes of Yjs": mean(sum((length) => length)),
      body: mean(meter.body),
      packet: mean(meter.packet),
      "its stamps": mean(meter.stamps),
      "its pings": mean(meter.pings),
      "with headers": mean(meter.packet + meter.header),
      "packets an update": mean(meter.packets),
      "y-websocket": mean(sum(websocketBytes)),
    };
    rows.push([basename(file, ".json.gz"), row]);
    console.log(rows.at(-1)[0], JSON.stringify(row));
  }
  const columns = Object.keys(rows[0][1]);
  const average = (column) => rows.reduce((all, [, row]) => all + row[column], 0) / rows.length;
  rows.push([
    "mean",
    Object.fromEntries(columns.slice(2).map((column) => [column, Number(average(column).toFixed(2))])),
  ]);
  return rows;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
