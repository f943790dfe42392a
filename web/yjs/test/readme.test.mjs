/** The README's example runs. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { end, program, start } from "./start.ts";

vi.setConfig({ testTimeout: 120_000 });

const simulated = vi.hoisted(() => ({ connect: undefined }));
vi.mock("groupwire", () => ({ connect: (...all) => simulated.connect(...all) }));

test("the README's example", async () => {
  const text = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  const code = /^```ts\n(.*?)^```$/ms.exec(text)?.[1]?.replace('"groupwire-yjs"', '"../../src/index.js"');
  const net = start();
  simulated.connect = net.connect;
  const shown = [];
  vi.stubGlobal("show", (what) => shown.push(what));
  // Outside of node_modules, where Vitest leaves TypeScript as it is.
  const folder = mkdtempSync(new URL("run-", import.meta.url).pathname);
  try {
    const file = join(folder, "example.ts");
    writeFileSync(file, code);
    await import(file);
    const other = program(net, { room: "my-document" });
    other.provider.awareness?.setLocalStateField("user", { name: "Bo" });
    await net.settle();
    expect(other.doc.getText("notes").toString()).toBe("hello");
    expect(shown.filter((what) => typeof what === "string")).toEqual(["Saving…", "Saved"]);
    const people = shown.filter(Array.isArray).at(-1);
    expect(people).toHaveLength(2);
    expect(people).toContainEqual({ user: { name: "Bo" } });
    expect(people).toContainEqual({ user: { name: "Ada", color: "#c0392b" } });
    end(net, [other]);
  } finally {
    rmSync(folder, { recursive: true });
    vi.unstubAllGlobals();
  }
});
