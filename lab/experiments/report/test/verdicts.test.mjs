import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { papers } from "../page/papers.js";
import { KINDS, SIDES, judge, measured } from "../page/verdicts.js";

const registry = JSON.parse(readFileSync(new URL("../../../evidence/registry.json", import.meta.url), "utf8"));

/** An entry with two schemes at two places, published values, and these rules. */
const entry = (rules, more) => ({
  ...{ id: "t", unit: "s", better: "less", published: [], rules },
  ...{ at: { slow: { network: "slow" }, fast: { network: "fast" } } },
  schemes: {
    A: { again: { scheme: "a" }, ours: { scheme: "ours" } },
    B: { again: { scheme: "b" }, ours: { scheme: "b" } },
  },
  rows: [{ experiment: "moon", where: { part: "paper" }, value: "seconds" }],
  ...more,
});
const place = (series, x, value) => ({ series, x, value });
const row = (scheme, network, seconds, more) => ({
  experiment: "moon",
  part: "paper",
  scheme,
  network,
  seconds,
  ...more,
});
const both = [place("A", "slow", 10), place("B", "slow", 20), place("A", "fast", 1), place("B", "fast", 2)];

/** The verdicts of both sides for rows of a and b on each network, and ours. */
function verdicts(rules, { a = [10, 1], b = [20, 2], ours = [10, 1] } = {}, more = {}) {
  const rows = Object.entries({ a, b, ours }).flatMap(([scheme, [slow, fast]]) => [
    row(scheme, "slow", slow),
    row(scheme, "fast", fast),
  ]);
  const { again, ours: own } = judge(entry(rules, { published: both, ...more }), rows);
  return [again.verdict, own.verdict];
}

test("a value is the mean of the rows that match, with their range, in the paper's unit", () => {
  const rows = [
    row("a", "slow", 1, { seed: 1 }),
    row("a", "slow", 3, { seed: 2 }),
    row("a", "fast", 9),
    row("a", "slow", 99, { part: "other" }),
  ];
  const one = entry([], { rows: [{ experiment: "moon", where: { part: "paper" }, value: "seconds", scale: 1000 }] });
  assert.deepEqual(measured(one, rows, "again", "A", "slow"), { value: 2000, least: 1000, greatest: 3000, rows: 2 });
  assert.equal(measured(one, rows, "ours", "A", "slow"), undefined);
  const stopped = [row("a", "slow", null, { stopped: true }), row("b", "slow", null)];
  assert.equal(measured(one, stopped, "again", "A", "slow").value, Infinity);
  assert.equal(measured(one, stopped, "again", "B", "slow"), undefined);
  const wrong = rows.map((one) => ({ ...one, verified: false }));
  assert.equal(measured(one, wrong, "again", "A", "slow"), undefined);
});

test("a row of several seeds has the ends of its range in fields of its own", () => {
  const range = ["seconds_min", "seconds_max"];
  const one = entry([], { rows: [{ experiment: "moon", where: {}, value: "seconds", scale: 10, range }] });
  const rows = [row("a", "slow", 2, { seconds_min: 1, seconds_max: 4 })];
  assert.deepEqual(measured(one, rows, "again", "A", "slow"), { value: 20, least: 10, greatest: 40, rows: 1 });
});

test("a range holds what is published, and ours may be better", () => {
  const ranges = [10, 1].map((value, at) => ({
    series: "A",
    x: ["slow", "fast"][at],
    from: value - 0.5,
    to: value + 0.5,
  }));
  const rule = [{ kind: "range" }];
  assert.deepEqual(verdicts(rule, {}, { published: ranges }), ["holds", "holds"]);
  assert.deepEqual(verdicts(rule, { a: [10, 2], ours: [4, 1] }, { published: ranges }), ["differs", "holds"]);
  assert.deepEqual(verdicts(rule, { a: [4, 1], ours: [11, 1] }, { published: ranges }), ["differs", "differs"]);
});

test("a ratio is that of two series at each place", () => {
  const rule = (more) => [{ kind: "ratio", of: "B", to: "A", ...more }];
  assert.deepEqual(verdicts(rule({ least: 2 })), ["holds", "holds"]);
  assert.deepEqual(verdicts(rule({ least: 2 }), { b: [19, 2] }), ["differs", "differs"]);
  assert.deepEqual(verdicts(rule({ greatest: 2 }), { ours: [9, 1] }), ["holds", "differs"]);
  assert.deepEqual(verdicts(rule({ least: 1 }), {}, { published: both.slice(0, 1) }), ["differs", "differs"]);
});

test("a series may have to stay, or to rise by so much", () => {
  const rule = (more) => [{ kind: "shape", series: ["A"], ...more }];
  const stays = rule({ direction: "stays", slack: 0.1 });
  assert.deepEqual(verdicts(stays, { a: [10, 10.5], ours: [10, 9] }), ["holds", "differs"]);
  const rises = rule({ direction: "rises", slack: -0.1 });
  assert.deepEqual(verdicts(rises, { a: [10, 12], ours: [10, 10.5] }), ["holds", "differs"]);
});

test("a value may be the ratio to another row of the same seed", () => {
  const over = { where: { scheme: "b" } };
  const rows = [
    row("a", "slow", 6, { seed: 1 }),
    row("b", "slow", 2, { seed: 1 }),
    row("a", "slow", 5, { seed: 2 }),
    row("b", "slow", 5, { seed: 2 }),
  ];
  const one = entry([], { rows: [{ experiment: "moon", where: {}, value: "seconds", over }] });
  assert.deepEqual(measured(one, rows, "again", "A", "slow"), { value: 2, least: 1, greatest: 3, rows: 2 });
});

test("places are found by fields of fields, and by the first source that has them", () => {
  const rows = [{ experiment: "moon", fit: { x: "lzo" }, r2: 0.9 }];
  const schemes = { A: { again: { "fit.x": "lzo" } } };
  const sources = [
    { experiment: "sun", where: {}, value: "r2" },
    { experiment: "moon", where: {}, value: "r2" },
  ];
  assert.equal(measured(entry([], { schemes, rows: sources }), rows, "again", "A", null).value, 0.9);
});

test("factor and points hold within their bounds; only ours may be better than the paper", () => {
  const factor = [{ kind: "factor", within: 1.5, series: ["A"] }];
  assert.deepEqual(verdicts(factor), ["holds", "holds"]);
  assert.deepEqual(verdicts(factor, { a: [16, 1], ours: [2, 0.1] }), ["differs", "holds"]);
  assert.deepEqual(verdicts(factor, { a: [2, 1], ours: [16, 1] }), ["differs", "differs"]);
  const points = [{ kind: "points", within: 1, series: ["A"], share: 0.5 }];
  assert.deepEqual(verdicts(points, { a: [10.9, 5], ours: [12, 3] }), ["holds", "differs"]);
});

test("order compares series at each place, with slack, and not those of one rank", () => {
  const order = [{ kind: "order", series: ["A", "B"] }];
  assert.deepEqual(verdicts(order, { a: [21, 1], ours: [20, 2] }), ["differs", "holds"]);
  assert.deepEqual(verdicts([{ kind: "order", series: ["A", "B"], slack: 0.1 }], { a: [21, 1] }), ["holds", "holds"]);
  assert.deepEqual(verdicts([{ kind: "order", series: [["A", "B"]] }]), ["differs", "differs"]);
});

test("two schemes whose names are swapped are noticed", () => {
  for (const rule of [{ kind: "order", series: ["A", "B"] }, { kind: "winner" }, { kind: "factor", within: 1.5 }])
    assert.equal(verdicts([rule], { a: [20, 2], b: [10, 1] })[0], "differs", rule.kind);
});

test("winner, shape, nearBest, ahead and bounds say what they are named for", () => {
  assert.deepEqual(verdicts([{ kind: "winner" }], { ours: [30, 1] }), ["holds", "differs"]);
  const falls = [{ kind: "shape", direction: "falls", series: ["A"] }];
  assert.deepEqual(verdicts(falls, { ours: [1, 2] }), ["holds", "differs"]);
  const near = [{ kind: "nearBest", subject: "A", among: ["B"], within: 1.2, share: 0.5 }];
  assert.deepEqual(verdicts(near, { a: [23, 9], ours: [25, 9] }), ["holds", "differs"]);
  const ahead = [{ kind: "ahead", series: ["A"], sides: ["ours"] }];
  assert.deepEqual(verdicts(ahead, { ours: [9, 1] }), ["none", "holds"]);
  assert.deepEqual(verdicts(ahead, { ours: [11, 1] }), ["none", "differs"]);
  const bounds = [{ kind: "bounds", series: ["A"], greatest: 10 }];
  assert.deepEqual(verdicts(bounds, { a: [10, 11], ours: [1, 1] }), ["differs", "holds"]);
});

test("a place without rows is no verdict", () => {
  const { again, ours } = judge(entry([{ kind: "winner" }], { published: both }), [
    row("a", "slow", 1),
    row("b", "slow", 2),
  ]);
  assert.equal(again.verdict, "missing");
  assert.match(again.lines[0], /A fast, B fast/);
  assert.equal(ours.verdict, "missing");
});

test("the registry has the 31 entries that count, each with rows, rules and places", () => {
  const counted = registry.entries.filter((one) => one.counted);
  const of = (paper) => counted.filter((one) => one.paper === paper).length;
  assert.deepEqual(["gmc", "afec", "lmc", "web", "ace"].map(of), [7, 6, 8, 4, 6]);
  assert.equal(new Set(registry.entries.map(({ id }) => id)).size, registry.entries.length);
  for (const { id, paper, published, rules, rows, schemes, at, caption, conditions, section } of registry.entries) {
    assert.ok(registry.papers[paper] && caption && conditions && section, id);
    for (const rule of rules) {
      assert.ok(KINDS.includes(rule.kind), `${id}: ${rule.kind}`);
      for (const name of [rule.series ?? [], rule.subject ?? [], rule.among ?? []].flat(2))
        assert.ok(schemes[name], `${id}: ${name}`);
    }
    if (rules.length === 0) continue;
    assert.ok(rows.length && published.length, id);
    for (const { series, x } of published) {
      assert.ok(
        SIDES.some((side) => schemes[series]?.[side]),
        `${id}: ${series}`,
      );
      if (x !== undefined)
        assert.ok(
          rows.some((source) => (source.at ?? at)?.[x]),
          `${id}: ${x}`,
        );
    }
  }
  for (const one of counted) assert.ok(one.rules.length, one.id);
});

test("every row that an entry asks for is of a run, and every run is asked for", () => {
  const runs = registry.runs.map(({ words }) => words.split(" ")[0]);
  const used = new Set(registry.entries.flatMap(({ rows }) => rows.map(({ experiment }) => experiment)));
  for (const experiment of used) assert.ok(runs.includes(experiment), experiment);
  for (const experiment of runs) assert.ok(used.has(experiment), experiment);
});

test("the page has a verdict for each entry that counts, and says why one differs", () => {
  const rows = [
    row("a", "slow", 1),
    row("a", "fast", 1),
    row("b", "slow", 2),
    row("b", "fast", 3),
    row("ours", "slow", 5),
    row("ours", "fast", 1),
  ];
  const one = {
    ...entry([{ kind: "winner" }]),
    published: both,
    paper: "p",
    label: "Table 1",
    caption: "x",
    conditions: "y",
    counted: true,
  };
  const because = { ours: "It had more to do." };
  const page = papers(
    { about: "", papers: { p: { name: "P", title: "P", about: "" } }, entries: [{ ...one, because }] },
    rows,
  );
  assert.deepEqual(
    page[0].blocks[1].tiles.map(({ figure }) => figure),
    ["1 of 1", "0 of 1"],
  );
  assert.match(
    JSON.stringify(page),
    /"verdict":"Groupwire: differs","lines":\["the same one is best: 1 of 2"\],"because":"It had more to do\."/,
  );
});
