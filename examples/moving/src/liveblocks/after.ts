/** The same plan on Groupwire. */

// #region room
import { awareness, connect, type ConnectOptions } from "groupwire";
import { defineRoom } from "groupwire/schema";
import { list, map, shared } from "groupwire/shared";
import { z } from "zod";

const Sticker = z.object({ x: z.number(), y: z.number(), text: z.string().max(200) });
const plan = defineRoom({
  presence: z.object({ name: z.string().max(40) }),
  channels: {
    cursor: { ...awareness({ maxRate: 25, deadline: 250 }), schema: z.object({ x: z.number(), y: z.number() }) },
    reaction: { ...awareness({ overflow: "aggregate", deadline: 2000 }), schema: z.object({ emoji: z.string() }) },
  },
  shared: shared({ stickers: map(Sticker), tasks: list(z.string().max(200)) }),
});

export async function joinPlan(url: string, name: string, me: string, token?: ConnectOptions["token"]) {
  const joined = plan.join(connect, url, name, { presence: { name: me }, ...(token && { token }) });
  const { room, channels } = joined;
  // #endregion room

  // #region use
  const { stickers, tasks } = joined.shared;
  const reactions: string[] = [];
  const cursors = new Map<number, { x: number; y: number }>();
  channels.reaction.on("message", ({ value }) => reactions.push(value.emoji));
  channels.cursor.on("message", ({ sender, value }) => cursors.set(sender, value));
  const here = () => [...joined.participants.values()].filter(({ away }) => !away);
  await new Promise<void>((resolve) => room.once("synced", () => resolve()));

  return {
    reactions,
    get people() {
      return [me, ...here().map(({ presence }) => presence?.name ?? "")];
    },
    get cursors() {
      return here().flatMap(({ id }) => cursors.get(id) ?? []);
    },
    get stickers() {
      return Object.fromEntries(stickers.value);
    },
    get tasks() {
      return tasks.value;
    },
    get isSaved() {
      return !room.state.pending;
    },
    point: (x: number, y: number) => channels.cursor.send({ x, y }),
    react: (emoji: string) => channels.reaction.send({ emoji }),
    put: (id: string, x: number, y: number, text: string) => stickers.set(id, { x, y, text }),
    move: (id: string, x: number, y: number) => stickers.patch(id, { x, y }),
    add: (task: string) => tasks.push(task),
    undo: () => joined.shared.undo(),
    subscribe: (changed: () => void) => joined.shared.subscribe(changed),
    leave: () => room.leave(),
  };
}
// #endregion use
