/** The first examples of docs/widgets.md and of the README run. */

import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test, vi } from "vitest";
import { parts, start } from "./page.js";

const simulated = vi.hoisted(() => ({ connect: undefined }));
vi.mock("groupwire", async () => ({
  ...(await import("groupwire/testing")),
  connect: (...all) => simulated.connect(...all),
}));
vi.mock("groupwire-widgets", () => import("../src/index.js"));

const here = fileURLToPath(new URL("..", import.meta.url));
// Not below node_modules, where Vitest would take the files as they are.
const folder = join(here, "dist/docs");
mkdirSync(folder, { recursive: true });
afterAll(() => rmSync(folder, { recursive: true }));

test.each(["../../docs/widgets.md", "README.md"])("%s", async (page) => {
  const text = readFileSync(join(here, page), "utf8");
  const [html, code] = ["html", "ts"].map((kind) => new RegExp(`^\`\`\`${kind}\\n(.*?)^\`\`\`$`, "ms").exec(text)[1]);
  const net = start();
  simulated.connect = net.connect;
  document.body.innerHTML = html;
  const file = join(folder, `${page.replaceAll(/\W/g, "-")}.ts`);
  writeFileSync(file, code);
  await import(/* @vite-ignore */ file);
  net.connect("http://test", "demo", { presence: { name: "Bo" } });
  await net.settle();
  expect(parts(document.querySelector("gw-avatars"), "avatar").map(({ title }) => title)).toEqual(["Ada (you)", "Bo"]);
  expect(parts(document.querySelector("gw-status"), "text")[0].textContent).toBe("Connected");
});
