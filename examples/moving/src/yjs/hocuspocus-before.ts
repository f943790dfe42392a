/** A text editor's document on Hocuspocus. */

import { othersOf } from "./awareness";
// #region imports
import { HocuspocusProvider } from "@hocuspocus/provider";
import * as Y from "yjs";
// #endregion imports

export function openText(url: string, name: string, user: { name: string }) {
  // #region open
  const doc = new Y.Doc();
  const provider = new HocuspocusProvider({ url, name, document: doc, token: async () => "secret" });
  provider.setAwarenessField("user", user);
  // #endregion open
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
