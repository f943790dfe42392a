/** What the page's address says: the room and the server. */

export interface Address {
  readonly room: string;
  readonly server: string;
}

/** The server prints a URL with this room; without one everybody meets here. */
const ROOM = "demo";

export function readAddress(url: URL): Address {
  const { searchParams } = url;
  return {
    room: searchParams.get("room")?.trim() || ROOM,
    server: searchParams.get("server") || `${url.protocol === "https:" ? "wss" : "ws"}://${url.host}/`,
  };
}

/** The address that is shown and shared names the room. */
export function withRoom(url: URL, room: string): string {
  const named = new URL(url);
  named.searchParams.set("room", room);
  return named.href;
}
