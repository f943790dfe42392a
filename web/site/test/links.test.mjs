import assert from "node:assert/strict";
import { test } from "node:test";
import { brokenLinks, page } from "./links.mjs";

test("finds links of built pages that lead nowhere", () => {
  const pages = new Map([
    ["index.html", page('<a href="/a">a</a> <a class="x" href="/a#b">b</a> <a href="b/#c">c</a> <img src="/d.png">')],
    ["a.html", page('<h1 id="c"></h1><a href="#c">c</a><a href="https://other/x">x</a>')],
    ["b/index.html", page('<a href="../a#c">c</a><a href="/gone">gone</a>')],
  ]);
  assert.deepEqual(
    brokenLinks(pages, (path) => pages.has(path)),
    [
      "index.html: /a#b: a.html has nothing with the id b",
      "index.html: b/#c: b/index.html has nothing with the id c",
      "index.html: /d.png: there is no d.png",
      "b/index.html: /gone: there is no gone.html",
    ],
  );
});
