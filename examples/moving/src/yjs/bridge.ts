/** Joins a document of y-websocket and one of Groupwire, while users move. */

// #region bridge
import { connect } from "groupwire";
import { GroupwireProvider } from "groupwire-yjs";
import { WebsocketProvider } from "y-websocket";
import * as Y from "yjs";

/**
 * Keeps a document the same on both servers, until the function that it resolves with is called.
 */
export async function bridge(from: string, to: string, name: string): Promise<() => void> {
  const doc = new Y.Doc();
  // Cursors stay on their own server: both awarenesses would claim each other's states.
  const theirs = new WebsocketProvider(from, name, doc, { disableBc: true });
  const ours = new GroupwireProvider(() => connect(to, name), doc);
  await new Promise<void>((resolve) => theirs.once("sync", () => resolve()));
  await ours.whenSynced;
  return () => {
    theirs.destroy();
    ours.destroy();
  };
}
// #endregion bridge
