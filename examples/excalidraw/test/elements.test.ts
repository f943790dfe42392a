import { expect, test } from "vitest";
import { inOrder, isNewer, merge, type Element, type Scene } from "../src/elements";

const element = (id: string, version: number, versionNonce = 1): Element => ({
  ...{ id, version, versionNonce, type: "rectangle", isDeleted: false, index: "a0" },
});

test("the higher version counts, and of equal ones the lower nonce", () => {
  expect(isNewer(element("a", 1), undefined)).toBe(true);
  expect(isNewer(element("a", 2, 9), element("a", 1, 1))).toBe(true);
  expect(isNewer(element("a", 2, 3), element("a", 2, 4))).toBe(true);
  expect(isNewer(element("a", 2, 4), element("a", 2, 4))).toBe(false);
  expect(isNewer(element("a", 2, 5), element("a", 2, 4))).toBe(false);
  expect(isNewer(element("a", 0), undefined)).toBe(true);
});

test("the scene is the same in whatever order changes come", () => {
  const changes = [element("a", 1), element("a", 2, 7), element("a", 2, 3), element("b", 5), element("b", 4)];
  const scenes = [changes, changes.toReversed()].map((all) => all.reduce(merge, {} as Scene));
  expect(scenes[0]).toEqual({ a: element("a", 2, 3), b: element("b", 5) });
  expect(scenes[1]).toEqual(scenes[0]);
});

test("an element may be named like a part of every object", () => {
  const scene = merge({}, element("constructor", 1));
  expect(Object.keys(scene)).toEqual(["constructor"]);
});

test("elements are in the order of their indices, then of their ids", () => {
  const all = [
    { id: "c", index: "a1" },
    { id: "b", index: "a1" },
    { id: "d", index: null },
    { id: "a", index: "Zz" },
  ];
  expect(inOrder(all).map(({ id }) => id)).toEqual(["a", "b", "c", "d"]);
});
