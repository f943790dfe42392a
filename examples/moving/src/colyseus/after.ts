/** The game on Groupwire: everybody applies the rules, in the room's one order. */

// #region client
import { connect } from "groupwire";
import { defineRoom } from "groupwire/schema";
import { reducer, shared } from "groupwire/shared";
import { z } from "zod";

const Action = z.object({ name: z.string().max(40), x: z.number().int(), y: z.number().int() });
type Player = { readonly x: number; readonly y: number; readonly coins: number };
type State = { readonly players: Readonly<Record<string, Player>>; readonly coin: { x: number; y: number } };

/** The rules. They must be pure: everybody computes the same state from the same actions. */
function rules(state: State, { name, x, y }: z.infer<typeof Action>): State {
  const { coins, ...from } = state.players[name] ?? newPlayer;
  if (Math.abs(from.x - x) + Math.abs(from.y - y) !== 1) return state;
  const isCoin = x === state.coin.x && y === state.coin.y;
  return {
    players: { ...state.players, [name]: { x, y, coins: coins + (isCoin ? 1 : 0) } },
    coin: isCoin ? { x: (x + 3) % 10, y: (y + 7) % 10 } : state.coin,
  };
}

const newPlayer: Player = { x: 0, y: 0, coins: 0 };
const start: State = { players: {}, coin: { x: 2, y: 0 } };
const coins = defineRoom({
  presence: z.object({ name: z.string().max(40) }),
  shared: shared({ game: reducer(start, rules, { schema: Action }) }),
});

export async function joinGame(url: string, table: string, name: string) {
  const joined = coins.join(connect, url, table, { presence: { name } });
  const { game } = joined.shared;

  return {
    get players() {
      const others = [...joined.participants.values()].map(({ presence }) => presence?.name ?? "");
      return Object.fromEntries([name, ...others].map((name) => [name, game.value.players[name] ?? newPlayer]));
    },
    get coin() {
      return game.value.coin;
    },
    step: (x: number, y: number) => game.dispatch({ name, x, y }),
    leave: () => joined.room.leave(),
  };
}
// #endregion client
