/** The same document in a room of Groupwire, with a token. */

import { othersOf } from "./awareness";
// #region imports
import { connect } from "groupwire";
import { GroupwireProvider } from "groupwire-yjs";
import * as Y from "yjs";
// #endregion imports

export function openText(url: string, name: string, user: { name: string }, token: () => Promise<string>) {
  // #region open
  const doc = new Y.Doc();
  const provider = new GroupwireProvider(() => connect(url, name, { token }), doc);
  provider.awareness?.setLocalStateField("user", user);
  // #endregion open
  return {
    text: doc.getText("text"),
    get others() {
      return othersOf(provider.awareness);
    },
    get isSaved() {
      return provider.saved;
    },
    leave: () => provider.destroy(),
  };
}
