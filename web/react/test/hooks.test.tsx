/** Tests of the hooks: what they return, and when components render. */

import { useEffect, useState, type ReactNode } from "react";
import { expect, test, vi } from "vitest";
import { Boundary } from "./boundary.js";
import { hooks, join, Page, props, rendered, start, warnings } from "./room.js";

const { RoomProvider } = hooks;

test("shows the others, and what they say of themselves", async () => {
  const net = start();
  const bo = join(net, "Bo");
  function People(): ReactNode {
    const names = hooks.useOthers((others) => others.map(({ presence }) => presence?.name));
    const { status, isReady, count } = hooks.useRoomStatus();
    return `${names.join()} ${status} ${isReady} ${count}`;
  }
  const page = new Page(
    <RoomProvider {...props(net)}>
      <People />
    </RoomProvider>,
  );
  expect(page.text).toBe(" connecting false 1");
  await net.settle();
  expect(page.text).toBe("Bo connected true 2");
  expect([...bo.participants.values()].map(({ presence }) => presence?.name)).toEqual(["Ada"]);
  bo.setPresence({ name: "Bob" });
  await net.settle();
  expect(page.text).toBe("Bob connected true 2");
  bo.room.leave();
  await net.settle();
  expect(page.text).toBe(" connected true 1");
});

test("two pages of a user are one person", async () => {
  const net = start();
  const [first] = [join(net, "Bo", "bo"), join(net, "Bo", "bo"), join(net, "Cy", "cy"), join(net, "Ada", "ada")];
  let ids: readonly number[] = [];
  function People(): ReactNode {
    ids = hooks.useOtherIds({ by: ({ presence }) => presence?.user });
    return ids.map((id) => <Name key={id} id={id} />);
  }
  function Name({ id }: { readonly id: number }): ReactNode {
    return hooks.useOther(id, ({ presence }) => `${presence?.name} `);
  }
  const page = new Page(
    <RoomProvider {...props(net)} presence={{ name: "Ada", user: "ada" }}>
      <People />
    </RoomProvider>,
  );
  await net.settle();
  expect(page.text).toBe("Bo Cy ");
  expect(ids[0]).toBe(first?.room.self?.id);
  first?.room.leave();
  await net.settle();
  expect(page.text).toBe("Bo Cy ");
  expect(ids[0]).not.toBe(first?.room.self?.id);
});

test("a user that the server has verified is one person", async () => {
  const net = start();
  net.join(2, { room: "demo", user: "bo" });
  net.join({ room: "demo", user: "cy" });
  function People(): ReactNode {
    return `${hooks.useOthers().length} ${hooks.useOtherIds().length} ${hooks.useOtherIds({ by: "user" }).length}`;
  }
  const page = new Page(
    <RoomProvider {...props(net)}>
      <People />
    </RoomProvider>,
  );
  await net.settle();
  expect(page.text).toBe("3 3 2");
});

test("shared data are shown and changed, and own operations are undone", async () => {
  const net = start();
  const bo = join(net, "Bo");
  let add: (key: string, x: number) => void = () => {};
  let undo = (): boolean => false;
  function Shapes(): ReactNode {
    const keys = hooks.useShared(({ shapes }) => [...shapes.value.keys()].sort());
    const likes = hooks.useShared(({ likes }) => likes.value);
    const pen = hooks.useShared(({ pen }) => pen.isMine);
    const undoing = hooks.useUndo();
    undo = undoing.undo;
    add = hooks.useMutation(({ shapes, likes }, key: string, x: number) => {
      shapes.set(key, { x });
      likes.add(1);
    }, []);
    return `${keys.join()} ${likes} ${pen} ${undoing.canUndo}`;
  }
  const page = new Page(
    <RoomProvider {...props(net)}>
      <Shapes />
    </RoomProvider>,
  );
  await net.settle();
  bo.shared.shapes.set("b", { x: 1 });
  await net.settle();
  expect(page.text).toBe("b 0 false false");
  const before = add;
  add("a", 2);
  await rendered();
  expect(page.text).toBe("a,b 1 false true");
  expect(add).toBe(before);
  await net.settle();
  expect(bo.shared.shapes.get("a")).toEqual({ x: 2 });
  expect(undo()).toBe(true);
  await net.settle();
  expect(page.text).toBe("b 0 false false");
  expect(bo.shared.likes.value).toBe(0);
});

test("effects of parts may change the room, though the whole connects after them", async () => {
  const net = start();
  const bo = join(net, "Bo");
  function Part(): ReactNode {
    const like = hooks.useMutation(({ likes }) => likes.add(1), []);
    const send = hooks.useChannel("chat");
    const [, setPresence] = hooks.usePresence();
    useEffect(() => {
      like();
      send({ text: "hello" });
      setPresence((now) => ({ name: `${now?.name} L.` }));
    }, [like, send, setPresence]);
    return null;
  }
  const heard: string[] = [];
  bo.channels.chat.on("message", ({ value }) => heard.push(value.text));
  new Page(
    <RoomProvider {...props(net)}>
      <Part />
    </RoomProvider>,
  );
  await net.settle();
  expect(bo.shared.likes.value).toBe(1);
  expect(heard).toEqual(["hello"]);
  expect([...bo.participants.values()].map(({ presence }) => presence?.name)).toEqual(["Ada L."]);
});

test("a listener is the one of the last rendering", async () => {
  const net = start();
  const bo = join(net, "Bo");
  const heard: string[] = [];
  let rename = (_: string): void => {};
  function Chat(): ReactNode {
    const [name, setName] = useState("first");
    rename = setName;
    hooks.useChannel("chat", ({ value, own }) => heard.push(`${name}: ${value.text} ${own}`));
    return null;
  }
  new Page(
    <RoomProvider {...props(net)}>
      <Chat />
    </RoomProvider>,
  );
  await net.settle();
  bo.channels.chat.send({ text: "a" });
  await net.settle();
  rename("second");
  await rendered();
  bo.channels.chat.send({ text: "b" });
  await net.settle();
  expect(heard).toEqual(["first: a false", "second: b false"]);
});

test("own presence follows the property, and the function changes it", async () => {
  const net = start();
  const bo = join(net, "Bo");
  let set: ReturnType<typeof hooks.usePresence>[1] = () => {};
  function Me(): ReactNode {
    const [presence, setPresence] = hooks.usePresence();
    set = setPresence;
    const { id } = hooks.useSelf();
    return `${presence?.name} ${id === undefined ? "no id" : "has an id"}`;
  }
  const show = (name: string): ReactNode => (
    <RoomProvider {...props(net)} presence={{ name }}>
      <Me />
    </RoomProvider>
  );
  const seen = (): (string | undefined)[] => [...bo.participants.values()].map(({ presence }) => presence?.name);
  const page = new Page(show("Ada"));
  expect(page.text).toBe("Ada no id");
  await net.settle();
  set({ name: "Eve" });
  page.show(show("Ada"));
  await net.settle();
  expect([page.text, seen()]).toEqual(["Eve has an id", ["Eve"]]);
  page.show(show("Zoe"));
  await net.settle();
  expect([page.text, seen()]).toEqual(["Zoe has an id", ["Zoe"]]);
});

test("positions are drawn in frames, and nobody's stays behind", async () => {
  const net = start({ transports: ["websocket"] });
  const [bo, cy] = [join(net, "Bo"), join(net, "Cy")];
  let drawn: [number, number][] = [];
  let draws = 0;
  let renders = 0;
  function Cursors(): ReactNode {
    renders += 1;
    hooks.usePositions("cursor", (positions) => {
      draws += 1;
      drawn = [...positions].map(([id, { x }]) => [id, x]);
    });
    return null;
  }
  new Page(
    <RoomProvider {...props(net)}>
      <Cursors />
    </RoomProvider>,
  );
  await net.settle();
  const before = renders;
  for (let x = 0; x <= 60; x += 1) {
    bo.channels.cursor.send({ x, y: 0 });
    cy.channels.cursor.send({ x: -x, y: 0 });
    await net.run(16);
  }
  await net.settle();
  const ids = [bo, cy].map(({ room }) => room.self?.id ?? -1);
  expect(drawn.sort((a, b) => a[0] - b[0])).toEqual([
    [ids[0], 60],
    [ids[1], -60],
  ]);
  expect(draws).toBeGreaterThan(10);
  expect(draws).toBeLessThan(70);
  expect(renders).toBe(before);
  net.crashTab(bo.room);
  await net.run(1000);
  expect(drawn).toEqual([[ids[1], -60]]);
  net.closeTab(cy.room);
  await net.run(1000);
  expect(drawn).toEqual([]);
});

test("another name leads to another room", async () => {
  const net = start();
  join(net, "Bo");
  function People(): ReactNode {
    return hooks.useOthers((others) => others.map(({ presence }) => presence?.name).join());
  }
  const show = (name: string): ReactNode => (
    <RoomProvider {...props(net)} name={name}>
      <People />
    </RoomProvider>
  );
  const page = new Page(show("demo"));
  await net.settle();
  expect(page.text).toBe("Bo");
  page.show(show("other"));
  await net.settle();
  expect(page.text).toBe("");
  page.show(show("demo"));
  await net.settle();
  expect(page.text).toBe("Bo");
});

test("errors go to the application, and the one that closes the room is shown", async () => {
  const net = start({
    authenticate: (token) => {
      if (token !== "good") throw new Error("go away");
      return {};
    },
  });
  const onError = vi.fn();
  function State(): ReactNode {
    const { status, error } = hooks.useRoomStatus();
    return `${status} ${error?.message.includes("go away")}`;
  }
  const page = new Page(
    <RoomProvider {...props(net)} token={() => "bad"} onError={onError}>
      <State />
    </RoomProvider>,
  );
  await net.run(2000);
  expect(page.text).toBe("closed true");
  expect(onError).toHaveBeenCalledOnce();
  page.show(
    <RoomProvider {...props(net)} token="good">
      <State />
    </RoomProvider>,
  );
  await net.run(2000);
  expect(page.text).toBe("connected undefined");
});

test("a fallback is shown until the room is ready", async () => {
  const net = start();
  join(net, "Bo").shared.likes.add(3);
  await net.settle();
  const seen: number[] = [];
  function Likes(): ReactNode {
    const likes = hooks.useShared(({ likes }) => likes.value);
    seen.push(likes);
    return likes;
  }
  const page = new Page(
    <RoomProvider {...props(net)} fallback="loading">
      <Likes />
    </RoomProvider>,
  );
  expect(page.text).toBe("loading");
  await net.settle();
  expect(page.text).toBe("3");
  expect(seen).toEqual([3]);
});

test("a hook outside of a provider says what to do", () => {
  warnings();
  function Outside(): ReactNode {
    return hooks.useOthers().length;
  }
  const page = new Page(
    <Boundary>
      <Outside />
    </Boundary>,
  );
  expect(page.text).toContain("RoomProvider");
});

test.each<[what: string, use: () => unknown, message: string]>([
  ["a selector", () => hooks.useOthers("name" as never), "a selector must be of type function"],
  ["the selector of one", () => hooks.useOther(1, undefined as never), "the selector of useOther must be a function"],
  ["a mutation", () => hooks.useMutation({} as never, []), "the function of useMutation must be a function"],
  ["a listener", () => hooks.useChannel("cursor", {} as never), "the listener of useChannel must be a function"],
  ["a channel", () => hooks.useChannel("cursr" as never, () => {}), 'did you mean "cursor"?'],
  ["positions", () => hooks.usePositions("cursor", undefined as never), "`draw` of usePositions must be a function"],
])("%s that is none is told where it is used", async (_, use, message) => {
  warnings();
  const net = start();
  function Wrong(): ReactNode {
    use();
    return "right";
  }
  const page = new Page(
    <Boundary>
      <RoomProvider {...props(net)}>
        <Wrong />
      </RoomProvider>
    </Boundary>,
  );
  await rendered();
  expect(page.text).toContain(`caught:`);
  expect(page.text).toContain(message);
});

test.each<[what: string, own: object, message: string]>([
  ["no room", { room: undefined }, "`join` of `room` must be of type function"],
  ["no name", { name: undefined }, "`name` must be a text, not undefined"],
  ["an option that does not exist", { presense: 1 }, 'did you mean "presence"?'],
  ["a presence that is no JSON", { presence: { name: new Map() } }, "is of the class Map, which JSON cannot carry"],
])("a provider with %s is told", async (_, own, message) => {
  warnings();
  const net = start();
  const page = new Page(
    <Boundary>
      <RoomProvider {...props(net)} {...(own as object)}>
        right
      </RoomProvider>
    </Boundary>,
  );
  await rendered();
  expect(page.text).toContain(message);
});

test("a presence that becomes one that JSON cannot carry is told", async () => {
  warnings();
  const net = start();
  const shown = (presence: object): ReactNode => (
    <Boundary>
      <RoomProvider {...props(net)} presence={presence as never}>
        right
      </RoomProvider>
    </Boundary>
  );
  const page = new Page(shown({ name: "Ada" }));
  await net.settle();
  page.show(shown({ name: "Ada", id: 12n }));
  await rendered();
  expect(page.text).toContain("$.id is 12n");
});
