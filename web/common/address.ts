/** Reads the room and the server from the page's address. */

export interface Address {
  readonly room: string;
  readonly server: string;
}

/** The default room; the URL that the server prints names it, too. */
const ROOM = "demo";

export function readAddress(url: URL): Address {
  const { searchParams } = url;
  return {
    room: searchParams.get("room")?.trim() || ROOM,
    server: searchParams.get("server") || `${url.protocol === "https:" ? "wss" : "ws"}://${url.host}/`,
  };
}

/** The address of a room, for sharing. */
export function withRoom(url: URL, room: string): string {
  const named = new URL(url);
  named.searchParams.set("room", room);
  return named.href;
}
