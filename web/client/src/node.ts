/**
 * Groupwire in Node: reads the WebAssembly modules from the disk, and takes the WebSocket of the
 * package `ws` where Node has none.
 *
 * @packageDocumentation
 */

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { ConnectOptions, Room, WebSocketConstructor } from "./api.js";
import { failure } from "./errors.js";
import { addressOf, setReader } from "./locate.js";
import { checkConnect } from "./options.js";
import { connect as connectBy } from "./room.js";

export type * from "./api.js";
export { GroupwireError } from "./errors.js";
export { awareness, transaction } from "./qos.js";

setReader((name) => readFile(addressOf(name)));

/**
 * Joins a room of a server, as `connect` in a browser does. The WebSocket is {@link
 * ConnectOptions.WebSocket}, otherwise Node's own, otherwise that of the package `ws`. Throws an
 * error with the code `no-transport` if there is none and {@link ConnectOptions.transports} permits
 * no other transport.
 *
 * @param url - the server, such as `wss://example.com`
 * @param room - the room's name, 1 to 256 bytes
 */
export const connect: typeof connectBy = <Presence = unknown>(
  url: string | URL,
  room: string,
  options: ConnectOptions<Presence> = {},
): Room<Presence> => {
  checkConnect(room, options);
  const WebSocket = options.WebSocket ?? globalWebSocket() ?? packageWebSocket();
  if (WebSocket) return connectBy(url, room, { ...options, WebSocket });
  if (options.transports?.some((name) => name !== "websocket")) return connectBy(url, room, options);
  const hint = "install the package `ws` (npm install ws), or use Node 22 or newer";
  throw failure("no-transport", "own", `this version of Node has no WebSocket: ${hint}`);
};

function globalWebSocket(): WebSocketConstructor | undefined {
  return (globalThis as { WebSocket?: WebSocketConstructor }).WebSocket;
}

/**
 * The package `ws`, if the application has it. By `require`, so that bundlers do not ask for it.
 */
function packageWebSocket(): WebSocketConstructor | undefined {
  try {
    return createRequire(import.meta.url)("ws") as WebSocketConstructor;
  } catch (error) {
    if ((error as { code?: unknown }).code === "MODULE_NOT_FOUND") return undefined;
    throw error;
  }
}
