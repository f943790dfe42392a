/** The others in the editor: each is a record of tldraw's type `instance_presence`. */

import { InstancePresenceRecordType, react, type Signal, type TLInstancePresence, type TLStore } from "tldraw";
import type { Drawing } from "./room";

/** Sends the own record and shows those of the others. Returns a function that ends it. */
export function sharePresence(room: Drawing, store: TLStore, own: Signal<TLInstancePresence | null>): () => void {
  const { user } = room.channels;
  const shown = new Map<number, TLInstancePresence["id"]>();

  const stops = [
    react("send the own presence", () => {
      const record = own.get();
      if (record && room.room.status !== "closed") user.send({ ...record });
    }),
    user.on("message", ({ sender, value }) => {
      const id = InstancePresenceRecordType.createId(`participant-${sender}`);
      shown.set(sender, id);
      store.mergeRemoteChanges(() => store.put([{ ...value, id } as unknown as TLInstancePresence]));
    }),
    room.room.on("participants", (others) => hide((sender) => others.get(sender)?.away ?? true)),
  ];

  function hide(isGone: (sender: number) => boolean): void {
    const gone = [...shown].filter(([sender]) => isGone(sender));
    for (const [sender] of gone) shown.delete(sender);
    if (gone.length > 0) store.mergeRemoteChanges(() => store.remove(gone.map(([, id]) => id)));
  }

  return () => {
    for (const stop of stops) stop();
    hide(() => true);
  };
}
