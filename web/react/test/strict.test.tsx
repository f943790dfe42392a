/** Connections are counted: strict mode, and parts of a page that replace each other, keep one. */

import { StrictMode, type ReactNode } from "react";
import { expect, test } from "vitest";
import { Boundary } from "./boundary.js";
import { counted, hooks, join, Page, props, start, warnings } from "./room.js";

const { RoomProvider } = hooks;

function People(): ReactNode {
  const names = hooks.useOthers((others) => others.map(({ presence }) => presence?.name));
  hooks.useChannel("chat", () => {});
  hooks.usePositions("cursor", () => {});
  return names.join();
}

test("strict mode keeps one connection, and others see one participant", async () => {
  const net = start();
  const warned = warnings();
  const { connect, rooms } = counted(net);
  const bo = join(net, "Bo");
  const ids = new Set<number>();
  bo.room.on("participants", (participants) => participants.forEach(({ id }) => ids.add(id)));
  const page = new Page(
    <StrictMode>
      <RoomProvider {...props(net, connect)}>
        <People />
      </RoomProvider>
    </StrictMode>,
  );
  await net.settle();
  await net.run(5000);
  expect(page.text).toBe("Bo");
  expect(rooms.map(({ status }) => status)).toEqual(["connected"]);
  expect(ids.size).toBe(1);
  expect(warned).toEqual([]);
});

test("a page that is mounted again within a second keeps the connection, and later makes another one", async () => {
  const net = start();
  const { connect, rooms } = counted(net);
  const app = (
    <RoomProvider {...props(net, connect)}>
      <People />
    </RoomProvider>
  );
  const first = new Page(app);
  await net.settle();
  first.close();
  await net.run(900);
  const second = new Page(app);
  await net.run(5000);
  expect(rooms.map(({ status }) => status)).toEqual(["connected"]);
  second.close();
  await net.run(1100);
  expect(rooms.map(({ status }) => status)).toEqual(["closed"]);
  new Page(app);
  await net.settle();
  expect(rooms.map(({ status }) => status)).toEqual(["closed", "connected"]);
});

test("providers of one room share a connection until the last is gone", async () => {
  const net = start();
  const { connect, rooms } = counted(net);
  const app = (
    <RoomProvider {...props(net, connect)}>
      <People />
    </RoomProvider>
  );
  const [first, second] = [new Page(app), new Page(app)];
  await net.settle();
  first.close();
  await net.run(5000);
  expect(rooms.map(({ status }) => status)).toEqual(["connected"]);
  second.close();
  await net.run(1100);
  expect(rooms.map(({ status }) => status)).toEqual(["closed"]);
});

test("who signs in as somebody else does not take over the connection", async () => {
  const net = start({ authenticate: (token) => ({ user: token }) });
  const { connect, rooms } = counted(net);
  const bo = join(net, "Bo");
  const show = (user: string, token: string | (() => string)): ReactNode => (
    <RoomProvider {...props(net, connect)} token={token} identity={user}>
      <People />
    </RoomProvider>
  );
  const users = (): (string | undefined)[] => [...bo.participants.values()].map(({ user }) => user);
  const page = new Page(show("ada", () => "ada"));
  await net.settle();
  expect(users()).toEqual(["ada"]);
  page.show(show("eve", () => "eve"));
  await net.settle();
  expect(users()).toEqual(["eve"]);
  page.show(show("eve", "zoe"));
  await net.settle();
  expect(users()).toEqual(["zoe"]);
  expect(rooms.map(({ status }) => status)).toEqual(["closed", "closed", "connected"]);
});

test("a rendering without a mount makes no connection", async () => {
  const net = start();
  const { connect, rooms } = counted(net);
  function Thrown(): ReactNode {
    hooks.useOthers();
    throw new Error("it does not mount");
  }
  warnings();
  const page = new Page(
    <Boundary>
      <RoomProvider {...props(net, connect)}>
        <Thrown />
      </RoomProvider>
    </Boundary>,
  );
  expect(page.text).toBe("caught: it does not mount");
  await net.run(2000);
  expect(rooms).toEqual([]);
});
