/** The chat's client on Socket.IO. */

// #region client
import { io } from "socket.io-client";

export function joinChat(url: string, room: string, name: string) {
  const socket = io(url, { auth: { room, name } });
  const lines: string[] = [];
  const pointers = new Map<string, readonly [number, number]>();
  let people: string[] = [];

  socket.on("history", (all: { name: string; text: string }[]) => {
    lines.splice(0, lines.length, ...all.map(({ name, text }) => `${name}: ${text}`));
  });
  socket.on("line", ({ name, text }: { name: string; text: string }) => {
    lines.push(`${name}: ${text}`);
  });
  socket.on("people", (names: string[]) => {
    people = names;
    for (const name of pointers.keys()) if (!names.includes(name)) pointers.delete(name);
  });
  socket.on("pointer", (name: string, x: number, y: number) => {
    pointers.set(name, [x, y]);
  });

  return {
    lines,
    pointers,
    get people() {
      return people;
    },
    say: (text: string) => void socket.emit("line", text),
    point: (x: number, y: number) => void socket.volatile.emit("pointer", x, y),
    leave: () => void socket.disconnect(),
  };
}
// #endregion client
