// The site in target/site, as a reader and a program find it.

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { SITE } from "./host.mjs";
import { brokenLinks, page } from "./links.mjs";

const files = readdirSync(SITE, { recursive: true });
const html = files.filter((name) => name.endsWith(".html") && name !== "404.html");
const text = (name) => readFileSync(join(SITE, name), "utf8");

test("every link in a page leads to a file and an anchor of the site", () => {
  const pages = new Map(html.map((name) => [name, page(text(name))]));
  assert.ok(pages.size > 90, `only ${pages.size} pages`);
  assert.deepEqual(
    brokenLinks(pages, (path) => existsSync(join(SITE, path))),
    [],
  );
});

test("every page is there as Markdown, with a heading, and is in llms.txt and llms-full.txt", () => {
  const list = text("llms.txt");
  const full = text("llms-full.txt");
  assert.match(list, /^# Groupwire\n\n> .+\n/);
  const listed = [...list.matchAll(/^- \[[^\]]+\]\(\/([^)]+)\)/gm)].map(([, path]) => path);
  // The first page shows what the others say, and is no page to read. Those in demos/ are shown
  // within a page.
  const isRead = (name) => name !== "index.html" && !name.startsWith("demos/");
  const names = html.filter(isRead).map((name) => name.replace(/html$/, "md"));
  assert.deepEqual([...listed].sort(), [...names].sort());
  for (const name of [...names, "index.md"]) assert.match(text(name), /^# /m, `${name} has no heading`);
  for (const name of names) assert.ok(full.includes(`<!-- /${name} -->`), `${name} is not in llms-full.txt`);
});

test("links in the Markdown lead to files of the site", () => {
  const missing = files
    .filter((name) => name.endsWith(".md") || name === "llms.txt")
    .flatMap((name) => [...text(name).matchAll(/\]\(\/([^)#\s]+)/g)].map(([, path]) => [name, path]))
    .filter(([, path]) => !existsSync(join(SITE, path)));
  assert.deepEqual(missing, []);
});
