import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { KINDS, removableLines } from "../web/e2e/proxies/kinds.mjs";
import { differences, withTables } from "../web/e2e/proxies/tables.mjs";

const PAGE = ["works", "lines", "additions"]
  .map((name) => `<!-- ${name}: written by scripts/test-proxies.mjs -->\n<!-- end of ${name} -->`)
  .join("\n");

function result(title, changes = {}) {
  return {
    title,
    version: "1.2",
    works: { websocket: true, poll: true },
    idle: true,
    reload: true,
    udp: { through: false, instead: "websocket", why: "" },
    lines: [{ file: "a.conf", number: 1, line: "upgrade;", fails: ["websocket", "node"] }],
    additions: [{ file: "a.conf", line: "gzip;", fails: [] }],
    ...changes,
  };
}

test("a page with the results differs from no result, whatever the version is", () => {
  const page = withTables(PAGE, [result("nginx"), result("Caddy")]);
  assert.deepEqual(differences(page, [result("nginx"), result("Caddy", { version: "1.3" })]), []);
  assert.equal(withTables(page, [result("nginx"), result("Caddy")]), page);
});

test("a proxy that was skipped is not compared", () => {
  const page = withTables(PAGE, [result("nginx"), result("Caddy")]);
  assert.deepEqual(differences(page, [result("Caddy")]), []);
});

test("each result that the page does not have is a difference", () => {
  const page = withTables(PAGE, [result("nginx")]);
  const changes = {
    "a transport that fails": { works: { websocket: true, poll: "no connection" } },
    "idle clients": { idle: "not within 60000 ms" },
    "a reload": { reload: false },
    "WebTransport that works": { udp: { through: true, instead: "websocket" } },
    "a line that does nothing": { lines: [{ file: "a.conf", line: "upgrade;", fails: [] }] },
    "a line that is new": { lines: [...result("").lines, { file: "a.conf", line: "b;", fails: ["poll"] }] },
    "a line that is gone": { lines: [] },
    "an addition that breaks": { additions: [{ line: "gzip;", fails: ["multipart"] }] },
  };
  for (const [what, change] of Object.entries(changes)) {
    assert.notDeepEqual(differences(page, [result("nginx", change)]), [], what);
  }
});

test("every line of a configuration is left out once, but comments and ends of blocks", () => {
  for (const kind of KINDS) {
    const lines = removableLines(kind).map(({ line }) => line);
    assert.ok(lines.length > 0, kind.title);
    assert.deepEqual(
      lines.filter((line) => /^(#|}|<)|[{:]$/.test(line)),
      [],
    );
    for (const { file, line } of kind.additions) assert.ok(kind.files.includes(file) && !lines.includes(line));
  }
});

test("docs/deploy/proxies.md says what fails without each line of the configurations that were tried", () => {
  const page = readFileSync(new URL("../docs/deploy/proxies.md", import.meta.url), "utf8");
  const [head] = /^\| {2}\|.*$/m.exec(page);
  const tried = KINDS.filter(({ title }) => head.includes(` ${title} `));
  assert.ok(tried.length >= 4, head);
  for (const kind of tried) {
    for (const { file, line } of removableLines(kind)) {
      const row = `| ${kind.title} | ${file} | \`${line}\` | `;
      assert.ok(page.includes(row), `make test-proxies WRITE=--write; there is no row ${row}`);
      assert.ok(!page.includes(`${row}nothing fails`), row);
    }
  }
});
