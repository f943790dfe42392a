/**
 * A test double of WebSocket, whose other end is played by the test, and a room on the real core.
 */

import { readFileSync } from "node:fs";
import { connect, type ConnectOptions, type Room, type WebSocketLike } from "../src/index.js";
import { frames, type Frame } from "./wire.js";
import { until } from "./until.js";

const wasm = readFileSync(new URL("../wasm/groupwire_wasm_bg.wasm", import.meta.url));
const codecs = readFileSync(new URL("../wasm/groupwire_wasm_codecs_bg.wasm", import.meta.url));
const brotli = readFileSync(new URL("../wasm/groupwire_wasm_brotli_bg.wasm", import.meta.url));

export class SocketDouble implements WebSocketLike {
  binaryType = "blob";
  bufferedAmount = 0;
  isClosed = false;
  onopen: ((event: never) => void) | null = null;
  onmessage: ((event: never) => void) | null = null;
  onclose: ((event: never) => void) | null = null;
  onerror: ((event: never) => void) | null = null;
  readonly packets: Uint8Array[] = [];

  constructor(readonly url: string) {}

  send(packet: Uint8Array): void {
    this.packets.push(packet);
  }

  close(): void {
    this.isClosed = true;
  }

  /** The connection is open. */
  open(): void {
    this.onopen?.({} as never);
  }

  /** The connection breaks. */
  drop(): void {
    this.onclose?.({} as never);
  }

  /** The server sends a packet. */
  serverSends(data: Uint8Array | string): void {
    this.onmessage?.({ data: typeof data === "string" ? data : data.slice().buffer } as never);
  }

  /** All frames that were sent after the opening packet. */
  frames(): Frame[] {
    return this.packets.slice(1).flatMap((packet) => frames(packet));
  }
}

export interface Joined<P> {
  readonly room: Room<P>;
  readonly sockets: SocketDouble[];
}

/** Joins a room by WebSockets that are test doubles. */
export function join<P>(options: ConnectOptions<P> = {}, name = "room"): Joined<P> {
  const sockets: SocketDouble[] = [];
  class Socket extends SocketDouble {
    constructor(url: string) {
      super(url);
      sockets.push(this);
    }
  }
  return {
    room: connect<P>("http://server.example/app/", name, { wasm, codecs, brotli, WebSocket: Socket, ...options }),
    sockets,
  };
}

/**
 * Waits until the room has dialled for the `nth` time (from 0) and has sent HELLO. Returns the open
 * socket.
 */
export async function dialled(
  { sockets }: { readonly sockets: readonly SocketDouble[] },
  nth = 0,
): Promise<SocketDouble> {
  const socket = await until(() => sockets[nth]);
  socket.open();
  await until(() => socket.packets.length > 0);
  return socket;
}

/** Waits until all messages submitted in this task have been handed to the transport. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
