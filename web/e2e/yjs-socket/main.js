// A document with y-websocket's own client, for tests: they read and write by `window.client`.

import { WebsocketProvider } from "y-websocket";
import * as Y from "yjs";

const query = new URLSearchParams(location.search);
const doc = new Y.Doc();
const provider = new WebsocketProvider(`${query.get("server")}/yjs`, "from browsers", doc, { maxBackoffTime: 100 });
const text = doc.getText("text");

window.client = {
  write: (words) => text.insert(text.length, words),
  show: (name) => provider.awareness.setLocalState({ name }),
  read: () => ({
    synced: provider.synced,
    words: text.toString(),
    names: [...provider.awareness.getStates().values()].map(({ name }) => name).sort(),
  }),
};
