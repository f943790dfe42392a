/**
 * The application of this folder on Yjs with y-websocket, whose awareness carries cursors and
 * avatars.
 */

import { useEffect, useState } from "react";
import { WebsocketProvider } from "y-websocket";
import * as Y from "yjs";
import { Page, show, type Point } from "./page.tsx";

interface State {
  readonly name: string;
  readonly cursor?: Point;
}

const { awareness } = new WebsocketProvider("wss://example.com", "demo", new Y.Doc());
awareness.setLocalState({ name: "Ada" } satisfies State);

function App() {
  const [people, setPeople] = useState<readonly { readonly id: number; readonly name: string }[]>([]);
  useEffect(() => {
    const change = (): void => {
      const others = [...(awareness.getStates() as Map<number, State>)].filter(([id]) => id !== awareness.clientID);
      for (const [id, { cursor }] of others) if (cursor) show(id, cursor);
      const next = others.map(([id, { name }]) => ({ id, name }));
      setPeople((now) => (JSON.stringify(now) === JSON.stringify(next) ? now : next));
    };
    awareness.on("change", change);
    return () => awareness.off("change", change);
  }, []);
  return <Page people={people} move={(cursor) => awareness.setLocalStateField("cursor", cursor)} />;
}

export default <App />;
