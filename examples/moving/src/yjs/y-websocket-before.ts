/** A text editor's document on y-websocket. */

import { othersOf } from "./awareness";
// #region imports
import { WebsocketProvider } from "y-websocket";
import * as Y from "yjs";
// #endregion imports

export function openText(url: string, name: string, user: { name: string }, options = {}) {
  // #region open
  const doc = new Y.Doc();
  const provider = new WebsocketProvider(url, name, doc, options);
  provider.awareness.setLocalStateField("user", user);
  // #endregion open
  return {
    text: doc.getText("text"),
    get others() {
      return othersOf(provider.awareness);
    },
    isSaved: undefined,
    leave: () => provider.destroy(),
  };
}
