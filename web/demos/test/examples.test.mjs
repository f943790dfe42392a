// The examples of the playground run in two windows, and are those of the guide.

import { readFileSync } from "node:fs";
import { awareness, simulate, transaction } from "groupwire/testing";
import * as motion from "groupwire/motion";
import * as schema from "groupwire/schema";
import * as shared from "groupwire/shared";
import { JSDOM } from "jsdom";
import { afterEach, expect, test, vi } from "vitest";
import { z } from "zod";
import { EXAMPLES } from "../src/playground/examples.js";
import { CodeError, explain, run } from "../src/playground/run.js";

vi.setConfig({ testTimeout: 300_000 });

const MODULES = {
  groupwire: { awareness, transaction },
  "groupwire/motion": motion,
  "groupwire/schema": schema,
  "groupwire/shared": shared,
  zod: { z },
};

const guide = (name) => readFileSync(new URL(`../../../docs/guide/${name}.md`, import.meta.url), "utf8");
const codeOf = (name) => EXAMPLES.find((example) => example.name === name)?.code ?? "";

// The page of both windows. Not the environment `jsdom`, in which the testing kit finds no files.
const { window } = new JSDOM();
for (const name of ["document", "Event", "MouseEvent"]) vi.stubGlobal(name, window[name]);
vi.stubGlobal("requestAnimationFrame", (run) => setTimeout(() => run(performance.now())));
vi.stubGlobal("cancelAnimationFrame", clearTimeout);

let net;
afterEach(() => net?.end());

/** Runs code in two windows; returns what they show. */
async function inTwoWindows(code) {
  const here = (net = simulate());
  const roots = ["Ada", "Bo"].map((name) => {
    const root = document.body.appendChild(document.createElement("div")).attachShadow({ mode: "open" });
    return { name, root };
  });
  await Promise.all(roots.map((place) => run(code, { ...place, connect: here.connect, modules: MODULES })));
  await here.settle();
  return roots.map(({ root }) => root);
}

function submit(root, text) {
  root.querySelector("input").value = text;
  root.querySelector("form").dispatchEvent(new Event("submit", { cancelable: true }));
}

const texts = (roots, selector) => roots.map((root) => root.querySelector(selector)?.textContent?.trim());

test("first room: a message comes to both windows", async () => {
  const roots = await inTwoWindows(codeOf("first-room"));
  submit(roots[0], "hello");
  await net.settle();
  expect(texts(roots, "#messages")).toEqual(["hello", "hello"]);
});

test("presence: each window names the other one", async () => {
  const roots = await inTwoWindows(codeOf("presence"));
  expect(texts(roots, "#people")).toEqual(["Guest", "Guest"]);
  const input = roots[0].querySelector("input");
  input.value = "Ada";
  input.dispatchEvent(new Event("input"));
  await net.settle();
  expect(texts(roots, "#people")).toEqual(["Guest", "Ada"]);
  expect(texts(roots, "#status")).toEqual(["connected", "connected"]);
});

test("shared data: both lists are the same, and undo takes back", async () => {
  const roots = await inTwoWindows(codeOf("shared-data"));
  submit(roots[0], "tea");
  submit(roots[1], "cake");
  await net.settle();
  const [one, other] = texts(roots, "#tasks");
  expect([...(one ?? "")].sort().join("")).toBe([..."teacake"].sort().join(""));
  expect(other).toBe(one);
  roots[1].querySelector("#undo").click();
  await net.settle();
  expect(texts(roots, "#tasks")).toEqual(["tea", "tea"]);
  expect(texts(roots, "#status")).toEqual(["All is sent", "All is sent"]);
});

test("motion: a pointer comes to the other window", async () => {
  const roots = await inTwoWindows(codeOf("motion"));
  const moved = new MouseEvent("pointermove");
  Object.defineProperties(moved, { offsetX: { value: 40 }, offsetY: { value: 30 } });
  roots[0].querySelector("#plane").dispatchEvent(moved);
  await net.settle();
  const cursor = await vi.waitUntil(() => roots[1].querySelector(".cursor"), { timeout: 50_000 });
  expect(cursor.textContent).toBe("the other one");
});

test.each(EXAMPLES.map(({ name }) => name))("%s has the code of the guide", (name) => {
  // Without the types, and with the window's root in place of the document.
  const plain = (text) =>
    text
      .replace(/\bdocument\.(getElementById|querySelector)/g, "root.$1")
      .replace(
        /<HTML\w+>|<\{ text: string \}>|<number, HTMLElement>| as HTML\w+|: (string|Board|Shared|HTML\w+)\b/g,
        "",
      )
      .replace(/!(?=[.;)])/g, "")
      .trim();
  const page = new Set(guide(name).split("\n").map(plain));
  const lines = codeOf(name)
    .split("\n")
    .map(plain)
    .filter((line) => line.length > 3 && !line.startsWith("//"));
  const own = lines.filter((line) => !page.has(line));
  expect(own.length, own.join("\n")).toBeLessThan(lines.length * 0.4);
});

test("faults are told in words, with their place", async () => {
  const fault = async (code) => explain(await inTwoWindows(code).catch((error) => error), "Ada");
  expect(await fault('import { connect } from "express";')).toMatch(
    /^Line 1: there is no package "express" here: import from groupwire/,
  );
  expect(await fault('\nimport { conect } from "groupwire";')).toMatch(/^Line 2: "groupwire" has no "conect": it has/);
  expect(await fault('import * as all from "groupwire";')).toMatch(/^Line 1: write imports as/);
  expect(await fault("const a = 1;\nb();")).toBe("In Ada's window, line 2: b is not defined.");
  expect(await fault('import {\n  connect as join,\n} from "groupwire";\njoin("http://x", "");')).toMatch(
    /^In Ada's window, line 4: `room` of `connect` must be a text/,
  );
  expect(await fault('throw "words";')).toBe("In Ada's window: it threw words.");
  expect(explain(new Error("of the page"))).toBeUndefined();
  expect(explain(new CodeError("this is wrong"))).toBe("this is wrong.");
});
