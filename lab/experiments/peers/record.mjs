// Records what libraries of other projects send in a short session, for `groupwire-lab gmc
// --trace`: y-websocket, Hocuspocus and Socket.IO's parser, each with three people who move a
// cursor and type. There is no server and no clock: the same seed gives the same bytes. y-websocket
// and Socket.IO are those of package.json; `npm install @hocuspocus/provider` adds the third.
//
//     node record.mjs FOLDER [SEED]

import { writeFileSync } from "node:fs";
import { join } from "node:path";

const [folder, seed = "1"] = process.argv.slice(2);
if (!folder) {
  console.error("usage: node record.mjs FOLDER [SEED]");
  process.exit(2);
}

const STEPS = 4000;
const WORDS = "the quick brown fox jumps over a lazy dog and then sleeps".split(" ");

// Clients number themselves, and clocks are sent: both have to be the same at each run.
let state = BigInt(seed);
Math.random = () => {
  state = (state * 6364136223846793005n + 1442695040888963407n) & ((1n << 64n) - 1n);
  return Number(state >> 33n) / 2 ** 31;
};
Date.now = () => 1_718_000_000_000;

/** The connection of a library: keeps what is sent, and answers nothing. */
const sent = [];
class Socket {
  static OPEN = 1;
  OPEN = 1;
  binaryType = "arraybuffer";
  readyState = 1;
  constructor() {
    queueMicrotask(() => (this.onopen?.({}), this.listeners.get("open")?.({})));
  }
  listeners = new Map();
  addEventListener(type, listener) {
    this.listeners.set(type, listener);
  }
  removeEventListener(type) {
    this.listeners.delete(type);
  }
  send(data) {
    sent.push(typeof data === "string" ? Buffer.from(data) : Buffer.from(data));
  }
  close() {}
}
globalThis.WebSocket = Socket;

/**
 * Records a session of three people. `person(index)` makes a person with the functions
 * `cursor(value)` and `type(text)`.
 */
async function session(name, person) {
  sent.length = 0;
  const people = [];
  for (let index = 0; index < 3; index++) people.push(await person(index));
  await new Promise((done) => setTimeout(done, 50));
  const places = people.map((_, index) => ({ x: 300 + 100 * index, y: 200 }));
  for (let step = 0; step < STEPS; step++) {
    // One of them is active for some time.
    const who = Math.floor(step / 40) % people.length;
    const place = places[who];
    if (step % 10 < 7) {
      place.x += Math.floor(Math.random() * 21) - 10;
      place.y += Math.floor(Math.random() * 15) - 7;
      people[who].cursor({ ...place });
    } else {
      people[who].type(`${WORDS[Math.floor(Math.random() * WORDS.length)]} `);
    }
    await null;
  }
  const records = sent.flatMap((bytes) => {
    const length = Buffer.alloc(4);
    length.writeUInt32LE(bytes.length);
    return [length, bytes];
  });
  writeFileSync(join(folder, `${name}.bin`), Buffer.concat(records));
  console.log(`${name}: ${sent.length} messages, ${sent.reduce((sum, { length }) => sum + length, 0)} bytes`);
}

const NAMES = ["Ana", "Bert", "Chloé"];

/** A person of a provider of Yjs. */
function writer(Y, index, make) {
  const doc = new Y.Doc();
  doc.clientID = Math.floor(Math.random() * 2 ** 32);
  const { awareness } = make(doc);
  awareness.setLocalStateField("user", { name: NAMES[index], color: ["#30bced", "#6eeb83", "#ffbc42"][index] });
  const text = doc.getText("text");
  return {
    cursor: (cursor) => awareness.setLocalStateField("cursor", cursor),
    type: (word) => text.insert(text.length, word),
  };
}

async function attempt(name, record) {
  try {
    await record();
  } catch (error) {
    if (error.code !== "ERR_MODULE_NOT_FOUND") throw error;
    console.error(`${name}: not installed`);
  }
}

await attempt("y-websocket", async () => {
  const [Y, { WebsocketProvider }] = [await import("yjs"), await import("y-websocket")];
  await session("y-websocket", (index) =>
    writer(Y, index, (doc) => {
      const options = { WebSocketPolyfill: Socket, disableBc: true };
      return new WebsocketProvider("ws://localhost", "lobby", doc, options);
    }),
  );
});

await attempt("hocuspocus", async () => {
  const [Y, { HocuspocusProvider }] = [await import("yjs"), await import("@hocuspocus/provider")];
  await session("hocuspocus", (index) =>
    writer(Y, index, (document) => {
      const options = { url: "ws://localhost", name: "lobby", document, WebSocketPolyfill: Socket };
      return new HocuspocusProvider(options);
    }),
  );
});

await attempt("socket.io", async () => {
  const { Encoder, PacketType } = await import("socket.io-parser");
  const encoder = new Encoder();
  await session("socket.io", (index) => {
    let id = 0;
    const emit = (...data) => {
      for (const packet of encoder.encode({ type: PacketType.EVENT, nsp: "/", id: id++, data })) {
        // Engine.IO puts the type of its message before it.
        sent.push(Buffer.from(`4${packet}`));
      }
    };
    return {
      cursor: (cursor) => emit("cursor", { user: NAMES[index], ...cursor }),
      type: (text) => emit("insert", { user: NAMES[index], text }),
    };
  });
});

process.exit(0);
