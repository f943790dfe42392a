/** The code blocks of docs/moving are copies of the code that the other tests run. */

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { blocksOf, linesOf, pages, renewed } from "../blocks.mjs";

const PAGES = ["from-colyseus.md", "from-liveblocks.md", "from-socket-io.md", "from-y-websocket.md"];

test.each(PAGES)("the code of docs/moving/%s is that of the tested files", (name) => {
  const text = pages().get(name) ?? "";
  const blocks = blocksOf(text);
  expect(blocks.length).toBeGreaterThan(1);
  expect(blocks.filter(({ name }) => name === undefined)).toEqual([]);
  expect(text, "run: node examples/moving/blocks.mjs --write").toBe(renewed(text));
});

test("a copy that differs is found", () => {
  const page = "<!-- code: socket-io/before.ts#client -->\n```ts\nconst wrong = 1;\n```\n";
  expect(renewed(page)).not.toBe(page);
  expect(() => renewed(page.replace("#client", "#nothing"))).toThrow("has no region nothing");
});

test("the pages name the versions that are installed", () => {
  const { devDependencies } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
    devDependencies: Record<string, string>;
  };
  const text = [...pages().values()].join("\n");
  for (const [name, version] of Object.entries(devDependencies)) {
    if (name.startsWith("@types/") || ["ws", "y-protocols"].includes(name)) continue;
    expect(text).toContain(`\`${name}\` ${version}`);
  }
});

test("the lines of code in the table are counted", () => {
  const table = pages().get("README.md") ?? "";
  for (const [name, before, after] of [
    [
      "Socket.IO",
      linesOf("socket-io/server.ts#server", "socket-io/before.ts#client"),
      linesOf("socket-io/after.ts#client"),
    ],
    ["y-websocket", linesOf("yjs/y-websocket-before.ts#imports,open"), linesOf("yjs/after.ts#imports,open")],
    [
      "Hocuspocus",
      linesOf("yjs/hocuspocus-server.ts#imports,server", "yjs/hocuspocus-before.ts#imports,open"),
      linesOf("yjs/hocuspocus-after.ts#imports,open"),
    ],
    ["Liveblocks", linesOf("liveblocks/before.ts#room,use"), linesOf("liveblocks/after.ts#room,use")],
    [
      "Colyseus",
      linesOf("colyseus/server.ts#server", "colyseus/before.ts#client"),
      linesOf("colyseus/after.ts#client"),
    ],
  ] as const) {
    // prettier-ignore
    expect(table).toMatch(new RegExp(`^\\| \\[${name}\\][^|]*\\| ${before} \\| ${after} \\|`, "m"));
  }
});
