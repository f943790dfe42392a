/**
 * The addresses of a server's entry points. Code that is loaded later uses them too, so this file
 * imports nothing that is needed only at first: bundlers would move it to another file.
 */

/** The address of `path` below the server's address; the query is kept. */
export function door(server: URL, path: string): string {
  const url = new URL(server);
  url.pathname = `${url.pathname.replace(/\/$/, "")}/${path}`;
  return url.href;
}

/** The address of the server's WebSocket. */
export function socketDoor(server: URL): string {
  return door(server, "ws").replace(/^http/, "ws");
}
