/**
 * A plan with stickers and a list, on Liveblocks. It is compiled, and not run: its server is
 * Liveblocks' service.
 */

// #region room
import { createClient, LiveList, LiveMap, LiveObject, type Lson } from "@liveblocks/client";

type Presence = { name: string; cursor: { x: number; y: number } | null };
type Sticker = LiveObject<{ x: number; y: number; text: string }>;
type Storage = { stickers: LiveMap<string, Sticker>; tasks: LiveList<Lson> };
type Reaction = { type: "REACTION"; emoji: string };

const client = createClient({ authEndpoint: "/api/liveblocks-auth", throttle: 40 });

export async function joinPlan(name: string, me: string) {
  const { room, leave } = client.enterRoom<Presence, Storage, Reaction>(name, {
    initialPresence: { name: me, cursor: null },
    initialStorage: { stickers: new LiveMap(), tasks: new LiveList<Lson>([]) },
  });
  const { root } = await room.getStorage();
  // #endregion room

  // #region use
  const stickers = root.get("stickers");
  const tasks = root.get("tasks");
  const reactions: string[] = [];
  room.subscribe("event", ({ event }) => void reactions.push(event.emoji));

  return {
    reactions,
    get people() {
      return [me, ...room.getOthers().map(({ presence }) => presence.name)];
    },
    get cursors() {
      return room.getOthers().flatMap(({ presence }) => presence.cursor ?? []);
    },
    get stickers() {
      return stickers.toJSON();
    },
    get tasks() {
      return tasks.toJSON();
    },
    get isSaved() {
      return room.getStorageStatus() === "synchronized";
    },
    point: (x: number, y: number) => room.updatePresence({ cursor: { x, y } }),
    react: (emoji: string) => room.broadcastEvent({ type: "REACTION", emoji }),
    put: (id: string, x: number, y: number, text: string) => stickers.set(id, new LiveObject({ x, y, text })),
    move: (id: string, x: number, y: number) => stickers.get(id)?.update({ x, y }),
    add: (task: string) => tasks.push(task),
    undo: () => room.history.undo(),
    subscribe: (changed: () => void) => room.subscribe(root, changed, { isDeep: true }),
    leave,
  };
}
// #endregion use
