/** Cursors and avatars on groupwire-react. */

import { awareness } from "groupwire";
import { hooksOf } from "groupwire-react";
import { defineRoom } from "groupwire/schema";
import { Page, show, type Point } from "./page.tsx";

const board = defineRoom({ channels: { cursor: awareness({ maxRate: 25 }) } });
const { RoomProvider, useOthers, usePositions } = hooksOf(board);

function App() {
  const people = useOthers((others) =>
    others.map(({ id, presence }) => ({ id, name: (presence as { name: string }).name })),
  );
  const move = usePositions("cursor", (positions) => {
    for (const [id, data] of positions) show(id, JSON.parse(data as string) as Point);
  });
  return <Page people={people} move={move} />;
}

export default (
  <RoomProvider room={board} url="wss://example.com" name="demo" presence={{ name: "Ada" }}>
    <App />
  </RoomProvider>
);
