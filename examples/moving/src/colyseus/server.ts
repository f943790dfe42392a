/** The game's server on Colyseus: the state, and the rules by which players change it. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
// #region server
import { Room, Server, type Client } from "@colyseus/core";
import { schema, t } from "@colyseus/schema";

const Player = schema({ name: t.string(), x: t.uint8(), y: t.uint8(), coins: t.uint16() }, "Player");
const State = schema({ players: t.map(Player), coinX: t.uint8(), coinY: t.uint8() }, "State");

export class CoinRoom extends Room {
  override state = new State().assign({ coinX: 2, coinY: 0 });

  override onJoin(client: Client, { name }: { name: string }) {
    this.state.players.set(client.sessionId, new Player().assign({ name, x: 0, y: 0, coins: 0 }));
  }

  override messages = {
    step: (client: Client, { x, y }: { x: number; y: number }) => {
      const { state } = this;
      const player = state.players.get(client.sessionId);
      if (!player || Math.abs(player.x - x) + Math.abs(player.y - y) !== 1) return;
      player.assign({ x, y });
      if (x !== state.coinX || y !== state.coinY) return;
      player.coins += 1;
      state.assign({ coinX: (x + 3) % 10, coinY: (y + 7) % 10 });
    },
  };

  override async onDrop(client: Client) {
    // `onLeave` is called if the client does not come back within 20 s.
    await this.allowReconnection(client, 20);
  }

  override onLeave(client: Client) {
    this.state.players.delete(client.sessionId);
  }
}
// #endregion server

export async function startGame() {
  const { WebSocketTransport } = await import("@colyseus/ws-transport");
  const http = createServer();
  const server = new Server({ greet: false, transport: new WebSocketTransport({ server: http }) });
  server.define("coins", CoinRoom).filterBy(["table"]);
  await server.listen(0, "127.0.0.1");
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    close: async () => void (await server.gracefullyShutdown(false)),
  };
}
