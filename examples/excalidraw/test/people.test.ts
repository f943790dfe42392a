import { expect, test } from "vitest";
import { open, start, type Window } from "./editor";

const seenBy = ({ editor }: Window, { id }: Window) => editor.collaborators.get(String(id));

test("others have a name, a pointer and a selection, and are gone when they leave", async () => {
  const net = start({ loss: 0.05 });
  const [ada, bo] = (await open(net, "Ada", "Bo")) as [Window, Window];
  bo.people.point(10.04, 20, true, false);
  bo.editor.state = { ...bo.editor.state, selectedElementIds: { e: true } };
  bo.people.viewed();
  await net.settle();
  expect(seenBy(ada, bo)).toMatchObject({
    username: "Bo",
    pointer: { x: 10, y: 20, tool: "pointer" },
    button: "down",
    selectedElementIds: { e: true },
  });
  // A user is not among the user's own collaborators.
  expect([...ada.editor.collaborators.keys()]).toEqual([String(bo.id)]);
  bo.people.point(10, 20, false, true);
  await net.settle();
  expect(seenBy(ada, bo)).toMatchObject({ pointer: { tool: "laser" }, button: "up" });
  bo.room.room.leave();
  await net.settle();
  expect(ada.editor.collaborators.size).toBe(0);
});

test("a followed view is shown at once, and when it changes; the other one knows who follows", async () => {
  const net = start();
  const [ada, bo] = (await open(net, "Ada", "Bo")) as [Window, Window];
  bo.people.viewed();
  await net.settle();
  ada.people.follow(bo.id);
  await net.settle();
  expect(ada.editor.shown).toEqual([[0, 0, 800, 600]]);
  expect([...bo.editor.followedBy]).toEqual([String(ada.id)]);

  bo.editor.state = { ...bo.editor.state, scrollX: -100, zoom: { value: 2 } };
  bo.people.viewed();
  await net.settle();
  expect(ada.editor.shown.at(-1)).toEqual([100, 0, 500, 300]);

  ada.people.follow(undefined);
  bo.editor.state = { ...bo.editor.state, scrollX: 0 };
  bo.people.viewed();
  await net.settle();
  expect(ada.editor.shown).toHaveLength(2);
  expect(bo.editor.followedBy.size).toBe(0);
});

test("what is no pointer and no view has no effect", async () => {
  const net = start();
  const [ada, bo] = (await open(net, "Ada", "Bo")) as [Window, Window];
  const { room } = bo.room;
  for (const wrong of ["{", "[1]", '["a",1,true,true]', '{"bounds":[1,2,3],"selected":[]}']) {
    room.channel("pointer").send(wrong);
    room.channel("view").send(wrong);
    await net.settle();
  }
  expect(seenBy(ada, bo)?.pointer).toBeUndefined();
});

test("others are shown again if the editor forgets them", async () => {
  const net = start();
  const [ada, bo] = (await open(net, "Ada", "Bo")) as [Window, Window];
  ada.editor.collaborators = new Map();
  ada.people.viewed();
  expect([...ada.editor.collaborators.keys()]).toEqual([String(bo.id)]);
});

test("after a loss of the room nobody is followed, or has a selection, who only has the number of the one before", async () => {
  const net = start();
  const [ada, bo] = (await open(net, "Ada", "Bo")) as [Window, Window];
  bo.editor.state = { ...bo.editor.state, selectedElementIds: { e: true } };
  bo.people.viewed();
  ada.people.follow(bo.id);
  await net.settle();
  expect(ada.editor.isFollowing).toBe(true);
  net.crashTab(bo.room.room);
  net.partition(ada.room.room, 3000);
  net.restartServer();
  const others = await open(net, "Cy", "Di");
  const other = others.find(({ id }) => id === bo.id) as Window;
  expect(seenBy(ada, other)).toMatchObject({ selectedElementIds: {} });
  expect([ada.editor.isFollowing, other.editor.followedBy.size]).toEqual([false, 0]);
});
