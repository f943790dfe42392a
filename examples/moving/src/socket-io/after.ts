/** The chat's client on Groupwire; its server is `groupwire serve`. */

// #region client
import { awareness, connect, transaction } from "groupwire";
import { defineRoom } from "groupwire/schema";
import { z } from "zod";

const chat = defineRoom({
  presence: z.object({ name: z.string() }),
  channels: {
    line: { ...transaction(), schema: z.object({ name: z.string(), text: z.string() }) },
    pointer: { ...awareness({ maxRate: 25, deadline: 250 }), schema: z.tuple([z.number(), z.number()]) },
  },
});

export function joinChat(url: string, room: string, name: string) {
  const joined = chat.join(connect, url, room, { presence: { name } });
  const { line, pointer } = joined.channels;
  const lines: string[] = [];
  const places = new Map<number, readonly [number, number]>();
  const here = () => [...joined.participants.values()].filter(({ away }) => !away);

  line.on("message", ({ value }) => lines.push(`${value.name}: ${value.text}`));
  pointer.on("message", ({ sender, value }) => places.set(sender, value));

  return {
    lines,
    get pointers() {
      const placed = here().filter(({ id }) => places.has(id));
      return new Map(placed.map(({ id, presence }) => [presence?.name ?? "", places.get(id)!]));
    },
    get people() {
      return [name, ...here().map(({ presence }) => presence?.name ?? "")];
    },
    say: (text: string) => void line.send({ name, text }),
    point: (x: number, y: number) => void pointer.send([x, y]),
    leave: () => joined.room.leave(),
  };
}
// #endregion client
