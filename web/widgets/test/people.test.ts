import { expect, test } from "vitest";
import { initials, peopleIn } from "../src/core/people.js";
import { configure, join, start } from "./page.js";

test("two pages of a user are one person, whom the server or the presence names", async () => {
  const net = start();
  const me = join(net, "Me", { presence: { name: "Me", user: "me" } });
  join(net, "Ada", { user: "ada" });
  join(net, "Ada again", { user: "ada" });
  join(net, "Bo", { presence: { name: "Bo", user: "bo" } });
  join(net, "Bo", { presence: { name: "Bo", user: "bo" } });
  join(net, "Me", { presence: { name: "Me", user: "me" } });
  await net.settle();
  const people = peopleIn(me, "Guest");
  expect(people.map(({ name, ids, isSelf }) => [name, ids.length, isSelf])).toEqual([
    ["Me", 2, true],
    ["Ada", 2, false],
    ["Bo", 2, false],
  ]);
});

test("nobody becomes a part of a user by saying so", async () => {
  const net = start();
  const me = join(net, "Me");
  join(net, "Ada", { user: "ada" });
  join(net, "Eve", { presence: { name: "Ada", user: "ada" } });
  await net.settle();
  expect(peopleIn(me, "Guest").map(({ ids }) => ids.length)).toEqual([1, 1, 1]);
});

test("a presence may be anything", async () => {
  const net = start();
  const me = join(net, "Me");
  const odd: unknown[] = [
    null,
    5,
    "name",
    ["name"],
    { name: 5 },
    { name: "  " },
    { name: "x".repeat(1000), color: "red; background: url(//evil)" },
    { name: "Ada", color: "var(--secret)" },
    { name: "Bo", color: "rgb(1 2 3 / 50%)" },
    { name: "Cy", color: "#abc" },
  ];
  for (const presence of odd) join(net, "", { presence });
  await net.settle();
  const people = peopleIn(me, "Guest").slice(1);
  expect(people.map(({ name }) => name.slice(0, 5))).toEqual([
    ...Array<string>(6).fill("Guest"),
    "xxxxx",
    "Ada",
    "Bo",
    "Cy",
  ]);
  expect(people[6]?.name).toHaveLength(40);
  expect(people.slice(6).map(({ color }) => /^(rgb|#abc)/.test(color))).toEqual([false, false, true, true]);
});

test("an application says who somebody is", async () => {
  const net = start();
  configure({ person: ({ presence }) => ({ name: `Dr. ${presence.name}`, key: presence.team, color: "teal" }) });
  const me = join(net, "Me", { presence: { name: "Me", team: "a" } });
  join(net, "Ada", { presence: { name: "Ada", team: "b" } });
  join(net, "Bo", { presence: { name: "Bo", team: "b" } });
  await net.settle();
  expect(peopleIn(me, "Guest").map(({ name, color }) => [name, color])).toEqual([
    ["Dr. Me", "teal"],
    ["Dr. Ada", "teal"],
  ]);
});

test("initials", () => {
  expect(["Ada Lovelace", "bo", "  ", "Ma. del Mar Ñu", "😀 x"].map(initials)).toEqual(["AL", "B", "?", "MÑ", "😀X"]);
});
