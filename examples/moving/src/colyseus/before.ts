/** The game's client on Colyseus. */

// #region client
import { Client } from "@colyseus/sdk";
import type { CoinRoom } from "./server";

export async function joinGame(url: string, table: string, name: string) {
  const room = await new Client(url).joinOrCreate<CoinRoom["state"]>("coins", { table, name });
  // Before its first change arrives, the state is empty.
  await new Promise((resolve) => room.onStateChange.once(resolve));
  // Without it, the client does not come back to a room in which it was for less than 5 s.
  room.reconnection.minUptime = 0;

  return {
    get players() {
      const players = [...room.state.players.values()];
      return Object.fromEntries(players.map(({ name, x, y, coins }) => [name, { x, y, coins }]));
    },
    get coin() {
      return { x: room.state.coinX, y: room.state.coinY };
    },
    step: (x: number, y: number) => room.send("step", { x, y }),
    leave: () => void room.leave(),
  };
}
// #endregion client
