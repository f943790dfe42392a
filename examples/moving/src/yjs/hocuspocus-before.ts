/** A text editor's document on Hocuspocus. */

import { othersOf } from "./awareness";
// #region client
import { HocuspocusProvider } from "@hocuspocus/provider";
import * as Y from "yjs";

export function openText(url: string, name: string, user: { name: string }) {
  const doc = new Y.Doc();
  const provider = new HocuspocusProvider({ url, name, document: doc, token: async () => "secret" });
  provider.setAwarenessField("user", user);
  // #endregion client
  return {
    text: doc.getText("text"),
    get others() {
      return othersOf(provider.awareness);
    },
    get isSaved() {
      return !provider.hasUnsyncedChanges;
    },
    leave: () => provider.destroy(),
  };
}
