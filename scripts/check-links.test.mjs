import assert from "node:assert/strict";
import { test } from "node:test";
import { broken, unknownPages } from "./check-links.mjs";
import { anchors, headings, links, slug } from "./markdown.mjs";

test("anchors are those of GitHub", () => {
  assert.equal(slug("What it does, and when not to"), "what-it-does-and-when-not-to");
  assert.equal(slug("groupwire/motion & `x_y`"), "groupwiremotion--x_y");
  const page = '# One\n\n## One\n\n<a id="old"></a>\n\n```sh\n# no heading\n```\n\n## [Two](two.md) `x`\n';
  assert.deepEqual([...anchors(page)], ["one", "one-1", "two-x", "old"]);
  assert.deepEqual(headings(page)[2], { level: 2, text: "Two x", line: 11 });
});

test("links are found where they stand, and not in code or comments", () => {
  const page = "a [`b`](c.md#d) ![e [f]](g.png)\n`[h](i.md)` <!-- [j](k.md) -->\n\n```\n[l](m.md)\n```\n[n](o(p).md)";
  const found = links(page);
  assert.deepEqual(
    found.map(({ text, target, isImage, line }) => [text, target, isImage, line]),
    [
      ["`b`", "c.md#d", false, 1],
      ["e [f]", "g.png", true, 1],
      ["n", "o(p).md", false, 7],
    ],
  );
  assert.equal(page.slice(found[0].start, found[0].end), "[`b`](c.md#d)");
});

test("finds links to files and headings that are not there", () => {
  const pages = new Map([
    ["docs/a.md", "# A\n[1](b.md#there) [2](b.md#gone)\n[3](c.md) [4](#a) [5](#b) [6](../x/) [7](https://a.b/c)"],
    ["docs/b.md", "# There\n[1](../../up.md)"],
  ]);
  const files = ["docs/a.md", "docs/b.md", "x"];
  assert.deepEqual(
    broken(pages, (path) => files.includes(path)),
    [
      "docs/a.md:2: [b.md#gone]: docs/b.md has no heading or id for #gone",
      "docs/a.md:3: [c.md]: there is no docs/c.md",
      "docs/a.md:3: [#b]: docs/a.md has no heading or id for #b",
      "docs/b.md:2: [../../up.md]: is outside of the repository",
    ],
  );
});

test("finds pages that code names and that are not there", () => {
  const pages = new Map([["docs/a.md", "# A"]]);
  const lines = ["x.rs:1:// See docs/a.md and docs/a.md#a.", "y.ts:7:// docs/b.md, docs/a.md#b, https://x.y/docs/c.md"];
  assert.deepEqual(unknownPages(lines, pages), [
    "y.ts:7: there is no docs/b.md",
    "y.ts:7: docs/a.md has no heading or id for #b",
  ]);
});
