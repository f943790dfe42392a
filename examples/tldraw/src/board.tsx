/** tldraw's editor in a room. */

import { getAssetUrlsByImport } from "@tldraw/assets/imports.vite";
import { useEffect, useMemo, useState, useSyncExternalStore } from "react";
import {
  atom,
  createPresenceStateDerivation,
  createTLStore,
  defaultBindingUtils,
  defaultShapeUtils,
  Tldraw,
  type TLStore,
  type TLStoreWithStatus,
  type TLUser,
  UserRecordType,
} from "tldraw";
import "tldraw/tldraw.css";
import { sharePresence } from "./people";
import type { Drawing } from "./room";
import { DocumentSync } from "./sync";
import type { RecordStore } from "./store";

// Fonts, icons and translations come with the page, not from another server.
const assetUrls = getAssetUrlsByImport();

export interface BoardProps {
  readonly room: Drawing;
  readonly me: { readonly id: string; readonly name: string; readonly color: string };
}

export function Board({ room, me }: BoardProps) {
  const { status, pending, count } = useSyncExternalStore(room.room.subscribe, () => room.room.state);
  const store = useStore({ room, me });
  const shown: TLStoreWithStatus = store
    ? { status: "synced-remote", connectionStatus: status === "connected" ? "online" : "offline", store }
    : { status: "loading" };
  const texts = {
    connecting: "Connecting…",
    connected: pending ? "Saving…" : count === 1 ? "Only you" : `${count} people`,
    reconnecting: "Offline",
    closed: "Disconnected",
  };
  return (
    <>
      <Tldraw
        store={shown}
        assetUrls={assetUrls}
        colorScheme="system"
        onMount={(editor) => {
          // The browser test reads this.
          Object.assign(window, { editor });
        }}
      />
      <output className="status" data-status={status}>
        {texts[status]}
      </output>
    </>
  );
}

/** A store with the room's document; undefined until the room has its state. */
function useStore({ room, me }: BoardProps): TLStore | undefined {
  const [ready, setReady] = useState<TLStore>();
  const user = useMemo(
    () => atom<TLUser>("user", UserRecordType.create({ ...me, id: UserRecordType.createId(me.id) })),
    [me],
  );
  useEffect(() => {
    const stops: (() => void)[] = [];
    const begin = () => {
      const store = createTLStore({
        shapeUtils: defaultShapeUtils,
        bindingUtils: defaultBindingUtils,
        assets: { upload: refuseAsset },
      });
      const { document } = store.scopedTypes;
      const sync = new DocumentSync(room, store as unknown as RecordStore, {
        isDocument: ({ typeName }) => document.has(typeName as never),
        onRefused: (record, error) => console.warn(`tldraw refuses ${record.id}:`, error),
      });
      stops.push(() => sync.stop(), sharePresence(room, store, createPresenceStateDerivation(user)(store)));
      setReady(store);
    };
    stops.push(room.room.once("synced", begin));
    return () => {
      for (const stop of stops) stop();
    };
  }, [room, user]);
  return ready;
}

/** A message has at most 60,000 bytes, so images need a server for files. */
function refuseAsset(): Promise<never> {
  return Promise.reject(new Error("This example does not share images."));
}
