/** In a room of fifty, a drag of one second renders nothing that does not show it. */

import { memo, Profiler, type ReactNode } from "react";
import { expect, test } from "vitest";
import { hooks, join, Page, props, rendered, start } from "./room.js";

const PEOPLE = 50;
const SHAPES = 200;

test("a drag renders the shape alone that shows it", async () => {
  const net = start({ transports: ["websocket"] });
  const others = Array.from({ length: PEOPLE - 1 }, (_, at) => join(net, `person ${at}`));
  const commits = new Map<string, number>();
  const rendersOf = (name: string, shown: ReactNode): ReactNode => (
    <Profiler id={name} onRender={() => commits.set(name, (commits.get(name) ?? 0) + 1)}>
      {shown}
    </Profiler>
  );

  const Shape = memo(function Shape({ id }: { readonly id: string }) {
    const x = hooks.useShared(({ shapes }) => shapes.previewed(id)?.x);
    return <i data-id={id}>{x}</i>;
  });
  function Shapes(): ReactNode {
    const ids = hooks.useShared(({ shapes }) => [...shapes.value.keys()]);
    return ids.map((id) => <div key={id}>{rendersOf(`shape ${id}`, <Shape id={id} />)}</div>);
  }
  const Avatar = memo(function Avatar({ id }: { readonly id: number }) {
    return hooks.useOther(id, ({ presence }) => presence?.name);
  });
  function Avatars(): ReactNode {
    return hooks.useOtherIds().map((id) => <div key={id}>{rendersOf("avatar", <Avatar id={id} />)}</div>);
  }
  let draws = 0;
  function Cursors(): ReactNode {
    hooks.usePositions("cursor", () => (draws += 1));
    return null;
  }
  function Bar(): ReactNode {
    const { pending, status } = hooks.useRoomStatus();
    const { canUndo } = hooks.useUndo();
    return `${status} ${pending} ${canUndo}`;
  }
  const page = new Page(
    <hooks.RoomProvider {...props(net)}>
      <Shapes />
      {rendersOf("avatars", <Avatars />)}
      {rendersOf("cursors", <Cursors />)}
      {rendersOf("bar", <Bar />)}
    </hooks.RoomProvider>,
  );
  const [dragger] = others;
  if (!dragger) throw new Error("nobody");
  dragger.shared.batch(() => {
    for (let at = 0; at < SHAPES; at += 1) dragger.shared.shapes.set(`s${at}`, { x: 0 });
  });
  await net.settle();
  await rendered();
  expect(page.element.querySelectorAll("i")).toHaveLength(SHAPES);
  expect(commits.get("avatar")).toBeGreaterThanOrEqual(PEOPLE - 1);

  commits.clear();
  for (let step = 1; step <= 60; step += 1) {
    dragger.shared.shapes.preview("s7", { x: step });
    // Meanwhile everybody points at something.
    for (const other of others) other.channels.cursor.send({ x: step, y: 0 });
    await net.run(1000 / 60);
  }
  dragger.shared.shapes.patch("s7", { x: 61 });
  await net.run(1000);
  await rendered();
  expect(page.element.querySelector('[data-id="s7"]')?.textContent).toBe("61");
  expect([...commits.keys()]).toEqual(["shape s7"]);
  // Previews come at most 25 times a second.
  expect(commits.get("shape s7")).toBeGreaterThan(15);
  expect(commits.get("shape s7")).toBeLessThan(30);
  console.log(JSON.stringify({ people: PEOPLE, shapes: SHAPES, renders: Object.fromEntries(commits), draws }));

  commits.clear();
  others[3]?.setPresence({ name: "another name" });
  await net.run(1000);
  await rendered();
  expect(Object.fromEntries(commits)).toEqual({ avatar: 1, avatars: 1 });
  expect(page.text).toContain("another name");
});
