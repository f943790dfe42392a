/** The server of y-websocket: the package `@y/websocket-server`, with documents in memory. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setupWSConnection } from "@y/websocket-server/utils";
import { WebSocketServer } from "ws";

export async function startYWebsocket() {
  const http = createServer();
  const sockets = new WebSocketServer({ server: http });
  sockets.on("connection", setupWSConnection);
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    close: async () => {
      for (const socket of sockets.clients) socket.terminate();
      http.close();
    },
  };
}
