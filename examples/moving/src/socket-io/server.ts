/** The chat's server on Socket.IO. It keeps the lines, and the list of people in each room. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

// #region server
import { Server } from "socket.io";

interface Line {
  readonly name: string;
  readonly text: string;
}

export function attachChat(io: Server) {
  const history = new Map<string, Line[]>();

  io.on("connection", async (socket) => {
    const { room, name } = socket.handshake.auth as { room: string; name: string };
    const lines = history.get(room) ?? [];
    history.set(room, lines);
    socket.data.name = name;
    await socket.join(room);
    // A recovered connection is sent only what it has missed.
    if (!socket.recovered) socket.emit("history", lines);

    const tellPeople = async () => {
      const here = await io.in(room).fetchSockets();
      io.to(room).emit(
        "people",
        here.map(({ data }) => data.name),
      );
    };
    await tellPeople();
    socket.on("disconnect", tellPeople);

    socket.on("line", (text: string) => {
      lines.push({ name, text });
      io.to(room).emit("line", { name, text });
    });
    socket.on("pointer", (x: number, y: number) => {
      socket.to(room).volatile.emit("pointer", name, x, y);
    });
  });
}
// #endregion server

export async function startChat() {
  const http = createServer();
  const io = new Server(http, { connectionStateRecovery: {} });
  attachChat(io);
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    close: async () => void (await io.close()),
  };
}
