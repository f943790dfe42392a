import assert from "node:assert/strict";
import test from "node:test";
import { named } from "./check-pages.mjs";

const page = new URL("http://127.0.0.1:8080/puzzle/");

test("files that a page names are found, relative to the page", () => {
  const html = '<link href="./assets/a.css"><script type="module" src="/assets/b.js"></script><a href="#top">top</a>';
  assert.deepEqual(named(html, page).map(String), [
    "http://127.0.0.1:8080/puzzle/assets/a.css",
    "http://127.0.0.1:8080/assets/b.js",
  ]);
});

test("other servers' files are none of the page's", () => {
  assert.deepEqual(named('<a href="https://example.org/">elsewhere</a>', page), []);
});
