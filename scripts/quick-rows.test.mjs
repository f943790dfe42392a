import assert from "node:assert/strict";
import { test } from "node:test";
import { count, differences } from "./quick-rows.mjs";

const row = (technique, trace = "xml") => ({ experiment: "gmc", trace, technique, mode: "stream", bytes_out: 7 });

test("counts rows by the fields that identify them", () => {
  const counts = count("gmc", [row("lz4"), row("zstd"), row("zstd", "text")]);
  assert.equal(counts.rows, 3);
  assert.deepEqual(counts.technique, { lz4: 1, zstd: 2 });
  assert.deepEqual(counts.trace, { xml: 2, text: 1 });
  assert.equal(counts.bytes_out, undefined);
});

test("leaves out rows that only some runs have", () => {
  const choice = { experiment: "ace", part: "simulated", scenario: "step-up", file: "xml", policy: "zstd-1" };
  const shown = [
    { ...choice, file: "all" },
    { ...choice, policy: "oracle" },
  ];
  assert.equal(count("ace", [choice, ...shown]).rows, 2);
});

test("names what is lost, what is new and what has another name", () => {
  const before = count("gmc", [row("lz4"), row("zstd")]);
  assert.deepEqual(differences(before, count("gmc", [row("zstd"), row("lz4")])), []);
  const lost = differences(before, count("gmc", [row("zstd")]));
  // These rows have only some of the fields that identify rows of the experiment.
  assert.ok(lost.includes("loss null: 1 rows instead of 2"));
  assert.deepEqual(
    lost.filter((line) => !line.includes(" null: ")),
    [
      "1 rows instead of 2",
      "trace xml: 1 rows instead of 2",
      "mode stream: 1 rows instead of 2",
      "technique lz4: 0 rows instead of 1",
    ],
  );
  const renamed = differences(before, count("gmc", [row("zstd"), row("lz5")]));
  assert.deepEqual(renamed, ["technique lz4: 0 rows instead of 1", "technique lz5: 1 rows instead of 0"]);
});
