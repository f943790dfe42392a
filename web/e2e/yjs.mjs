// Clients of a document: y-websocket's own at the endpoint, and providers of groupwire-yjs in the
// room.

import { connect } from "groupwire";
import { GroupwireProvider } from "groupwire-yjs";
import * as decoding from "lib0/decoding";
import * as encoding from "lib0/encoding";
import { WebSocket } from "ws";
import { WebsocketProvider } from "y-websocket";
import * as Y from "yjs";

/** A document with a provider. */
class Editor {
  doc = new Y.Doc();
  provider;

  get awareness() {
    return this.provider.awareness;
  }

  show(state) {
    this.awareness.setLocalState(state);
  }

  edit(below, name) {
    const text = this.doc.getText("text");
    const list = this.doc.getArray("list");
    const map = this.doc.getMap("map");
    const edits = [
      () => text.insert(below(text.length + 1), ["a", "word ", "ü😀", name][below(4)]),
      () => text.length > 0 && text.delete(below(text.length), 1),
      () => list.insert(below(list.length + 1), [name, { nested: [below(9)] }]),
      () => list.length > 0 && list.delete(below(list.length), 1),
      () => map.set(`key ${below(4)}`, name),
      () => map.delete(`key ${below(4)}`),
    ];
    this.doc.transact(() => edits[below(edits.length)]());
  }

  /** Leaves for good: in order, or without a word. */
  leave(inOrder) {
    if (!inOrder) this.cut();
    this.provider.destroy();
    this.doc.destroy();
  }
}

/**
 * Errors of a `ws` socket without a listener would end the program, and y-websocket's client
 * removes its listener when it is destroyed.
 */
class Quiet extends WebSocket {
  constructor(...told) {
    super(...told);
    this.on("error", () => {});
  }
}

/** A document with y-websocket's own client. */
export class Client extends Editor {
  constructor(url, name, options = {}) {
    super();
    this.provider = new WebsocketProvider(`${url.replace("http", "ws")}/yjs`, name, this.doc, {
      WebSocketPolyfill: Quiet,
      // The tabs of a browser would tell each other; here each client is on its own.
      disableBc: true,
      maxBackoffTime: 100,
      ...options,
    });
  }

  /** Resolves when all that was written up to then has come back from the server. */
  confirmation() {
    return new Promise((resolve) => {
      const check = (data) => {
        const clock = confirmedClock(new Uint8Array(data), this.doc.clientID);
        if (clock >= Y.getState(this.doc.store, this.doc.clientID)) resolve();
      };
      this.provider.ws.on("message", check);
    });
  }

  /** Breaks the connection without a word. */
  cut() {
    this.provider.ws?.terminate();
  }
}

/** A document with the provider of groupwire-yjs, which takes part in the room of the same name. */
export class Participant extends Editor {
  #sockets = new Set();

  constructor(url, name) {
    super();
    const sockets = this.#sockets;
    class Breakable extends Quiet {
      constructor(...told) {
        super(...told);
        sockets.add(this);
        this.on("close", () => sockets.delete(this));
      }
    }
    this.provider = new GroupwireProvider(() => {
      const room = connect(url, name, { transports: ["websocket"], WebSocket: Breakable });
      // A server that is killed is told of.
      room.on("error", () => {});
      return room;
    }, this.doc);
  }

  get saved() {
    return this.provider.saved && this.provider.synced;
  }

  /** Breaks the connection without a word. */
  cut() {
    for (const socket of this.#sockets) socket.terminate();
  }
}

/**
 * Writes into a document, and counts what of it has come back. It never asks for the document, and
 * does not come back.
 */
export class Writer {
  doc = new Y.Doc();
  /** The clock up to which its changes are confirmed. */
  confirmed = 0;
  closed;
  #socket;

  static async open(url, name) {
    const writer = new Writer();
    const socket = new WebSocket(`${url.replace("http", "ws")}/yjs/${name}`);
    writer.#socket = socket;
    writer.closed = new Promise((resolve) => socket.once("close", resolve));
    socket.on("error", () => {});
    socket.on("message", (data) => {
      writer.confirmed = Math.max(writer.confirmed, confirmedClock(new Uint8Array(data), writer.doc.clientID));
    });
    writer.doc.on("update", (update) => {
      const encoder = encoding.createEncoder();
      encoding.writeVarUint(encoder, 0);
      encoding.writeVarUint(encoder, 2);
      encoding.writeVarUint8Array(encoder, update);
      if (socket.readyState === WebSocket.OPEN) socket.send(encoding.toUint8Array(encoder));
    });
    await new Promise((resolve) => socket.once("open", resolve));
    return writer;
  }

  get unconfirmed() {
    return Y.getState(this.doc.store, this.doc.clientID) - this.confirmed;
  }

  write() {
    this.doc.getArray("list").push([this.unconfirmed]);
  }
}

/** The clock up to which a message brings back the changes of a client; 0 if it brings none. */
function confirmedClock(message, client) {
  const decoder = decoding.createDecoder(message);
  if (decoding.readVarUint(decoder) !== 0 || decoding.readVarUint(decoder) !== 2) return 0;
  const { structs } = Y.decodeUpdate(decoding.readVarUint8Array(decoder));
  return Math.max(0, ...structs.filter(({ id }) => id.client === client).map(({ id, length }) => id.clock + length));
}

/** Whether two documents are the same. */
export function same(one, other) {
  return Buffer.compare(canonical(one), canonical(other)) === 0;
}

function canonical(doc) {
  const map = Object.entries(doc.getMap("map").toJSON()).sort(([a], [b]) => (a < b ? -1 : 1));
  const clocks = [...Y.decodeStateVector(Y.encodeStateVector(doc))].sort(([a], [b]) => a - b);
  return Buffer.from(JSON.stringify([doc.getText("text").toString(), doc.getArray("list").toJSON(), map, clocks]));
}

/**
 * In each round clients edit at random, lose connections, leave and are replaced, and at times the
 * server is killed, at least once in all. `open` makes the client at a place, `show` changes what
 * it shows, `converge` waits until all agree. Returns the number of kills.
 */
export async function disturb(rounds, { server, clients, below, open, show, converge }) {
  let kills = 0;
  for (let round = 0; round < rounds; round += 1) {
    for (const [at, client] of clients.entries()) {
      for (let count = below(6); count > 0; count -= 1) client.edit(below, `${round}`);
      if (below(2)) show(client, at, round);
    }
    const killed = below(3) === 0 || (round === rounds - 1 && kills === 0) ? server.kill() : undefined;
    for (let count = below(4); count > 0; count -= 1) {
      const at = below(clients.length);
      const happening = below(4);
      if (happening === 0) clients[at].cut();
      if (happening === 1) clients[at].provider.disconnect();
      if (happening === 2) clients[at].provider.connect();
      if (happening === 3) {
        // A client that leaves may lose changes that it has not sent.
        clients[at].leave(below(2) === 0);
        clients[at] = open(at);
      }
    }
    for (const client of clients) client.edit(below, `${round}'`);
    if (killed) {
      await killed;
      kills += 1;
      await server.restart();
    }
    // Some rounds begin before all clients are back.
    if (below(3) > 0) {
      for (const { provider } of clients) provider.connect();
      await converge(clients);
    }
  }
  for (const { provider } of clients) provider.connect();
  return kills;
}
