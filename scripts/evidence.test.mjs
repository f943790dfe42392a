import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { markdown } from "../lab/evidence/markdown.mjs";
import { minutesLeft, remember, results, unanswered } from "./evidence.mjs";

const registry = JSON.parse(readFileSync(new URL("../lab/evidence/registry.json", import.meta.url), "utf8"));

test("the time left follows the pace so far", () => {
  const pending = [{ minutes: 10 }, { minutes: 20 }];
  assert.equal(minutesLeft(pending, { expected: 0, spent: 0 }), 30);
  assert.equal(minutesLeft(pending, { expected: 4, spent: 8 }), 60);
});

test("an entry without rows is unanswered", () => {
  const lost = unanswered(registry, results(registry, []));
  assert.equal(lost.length, registry.entries.filter(({ counted }) => counted).length);
});

test("the document names every entry that counts, and an entry that nobody explained", () => {
  const entries = results(registry, []);
  entries["gmc-t4"].again = { verdict: "differs", lines: ["within 3: 1 of 3"] };
  const machine = { processor: "a processor", cores: 2, memoryGb: 8, kernel: "6" };
  const measured = [{ runs: ["gmc", "web"], quick: ["web"], commits: ["abc"], machine }];
  const text = markdown(registry, { entries, measured });
  assert.match(text, /`gmc`, `web`: measured at commit abc, .* Measured quickly, so that figures are rough: `web`\./);
  for (const { counted, caption } of registry.entries) if (counted) assert.ok(text.includes(caption), caption);
  assert.match(text, /its own method, run again: 0 of 31 reproduced, 1 differ, 30 not measured/);
  assert.match(text, /### GMC, Table 4\n\nits own method, run again \(within 3: 1 of 3\): /);
});

test("what did not run again stays as it was recorded", () => {
  const verdict = (verdict) => ({ again: { verdict, lines: [] }, ours: { verdict: "none", lines: [] } });
  const one = (runs, quick, commit) => ({ runs, quick, commits: [commit], machine: {} });
  const before = {
    measured: [one(["gmc", "web"], ["web"], "old"), one(["ace"], [], "older")],
    entries: { t1: verdict("holds"), t2: verdict("differs"), t3: verdict("holds") },
  };
  const now = {
    measured: [one(["web", "ace"], [], "new")],
    entries: { t1: verdict("missing"), t2: verdict("holds"), t3: verdict("differs"), t4: verdict("missing") },
  };
  assert.deepEqual(remember(before, now), {
    measured: [one(["gmc"], [], "old"), one(["web", "ace"], [], "new")],
    entries: { t1: verdict("holds"), t2: verdict("holds"), t3: verdict("differs"), t4: verdict("missing") },
  });
});

/** A program in place of the laboratory: it notes its experiments, and fails some. */
function laboratory() {
  const folder = mkdtempSync(join(tmpdir(), "evidence-"));
  const program = join(folder, "lab");
  const script = `#!/bin/sh
case "$1" in report) echo page; exit 0;; esac
echo "$*" >> ${folder}/log
if grep -q "^$1" ${folder}/broken 2>/dev/null; then echo "no such luck" >&2; echo '{"experiment":"'$1'"}'; exit 3; fi
echo '{"experiment":"'$1'","part":"none"}'
`;
  writeFileSync(program, script);
  chmodSync(program, 0o755);
  const run = (...options) => {
    const words = [
      fileURLToPath(new URL("evidence.mjs", import.meta.url)),
      program,
      "--out",
      join(folder, "out"),
      ...options,
    ];
    const { stdout, status } = spawnSync(process.execPath, words, { encoding: "utf8" });
    const path = join(folder, "log");
    const log = readFileSync(path, "utf8").trim().split("\n");
    writeFileSync(path, "");
    return { stdout, status, log: log.filter((line) => line) };
  };
  return { folder, run };
}

test("a run that failed is said, and only that one is run again", () => {
  const { folder, run } = laboratory();
  try {
    writeFileSync(join(folder, "broken"), "lossless\n");
    const first = run("--quick");
    assert.equal(first.status, 1);
    assert.match(first.stdout, /FAILED {2}lossless --part paper: 1 rows/);
    assert.match(first.stdout, /no such luck/);
    assert.match(first.stdout, /without rows or a verdict: gmc-t1/);
    assert.equal(first.log.length, registry.runs.length);
    assert.ok(
      first.log.every((line) => line.endsWith("--quick --json")),
      first.log.join(),
    );
    writeFileSync(join(folder, "broken"), "");
    const second = run("--quick");
    assert.deepEqual(second.log, ["lossless --part paper --quick --json"]);
    assert.match(
      second.stdout,
      new RegExp(`${registry.runs.length - 1} of ${registry.runs.length} runs were done before`),
    );
    // Rows of a quick run are not taken for those of a full one.
    assert.equal(run().log.length, registry.runs.length);
    assert.equal(run("--only", "gmc", "--fresh").log.length, 1);
    const wrong = spawnSync(
      process.execPath,
      [fileURLToPath(new URL("evidence.mjs", import.meta.url)), join(folder, "lab"), "--only", "moon"],
      { encoding: "utf8" },
    );
    assert.match(wrong.stderr, /there is no run moon; there are gmc, /);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
