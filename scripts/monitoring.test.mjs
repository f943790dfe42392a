import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { alerts, DOCUMENTATION, RULES, rules } from "./alerts.mjs";
import { filled, queries, readQueries, sampleNames, unknownNames } from "./dashboard.mjs";

const HEAD = "| alert | expression | for | severity | why, and what to do |\n| --- | --- | --- | --- | --- |\n";

test("the alert rules are those of the documentation", () => {
  const documented = alerts(readFileSync(DOCUMENTATION, "utf8"));
  assert.ok(documented.length >= 10);
  assert.equal(new Set(documented.map(({ name }) => name)).size, documented.length);
  assert.equal(readFileSync(RULES, "utf8"), rules(documented), "run node scripts/alerts.mjs");
});

test("reads bars and links in a table, and refuses rows that are no alerts", () => {
  const row = '| GroupwireGone | `a{b=~"c\\|d"} > 1` | 5m | page | see `--data` ([Bad days](#bad-days)) |\n';
  const [alert] = alerts(`text\n\n${HEAD}${row}\nmore\n`);
  assert.equal(alert.expression, 'a{b=~"c|d"} > 1');
  assert.match(rules([alert]), /expr: "a\{b=~\\"c\|d\\"\} > 1"\n +for: 5m\n.*\n.*summary: "see '--data'" \}\n$/);
  for (const wrong of [row.replace("5m", "soon"), row.replace("page", "call"), row.replace("GroupwireGone", "Gone")]) {
    assert.throws(() => alerts(`${HEAD}${wrong}\n`), /cannot read/);
  }
  assert.throws(() => alerts("no table"), /no table/);
});

test("finds metrics that the server does not have", () => {
  const known = sampleNames('# HELP groupwire_c What it is.\ngroupwire_a_total 1\ngroupwire_b_bucket{le="1"} 2\n');
  assert.deepEqual([...known], ["groupwire_a_total", "groupwire_b_bucket"]);
  const query = "rate(groupwire_a_total[1m]) / groupwire_b_bucket + groupwire_c + groupwire_c + up";
  assert.deepEqual(unknownNames(query, known), ["groupwire_c"]);
});

test("finds panels that ask nothing or another data source, and unknown variables", () => {
  const panel = { title: "A", type: "stat", datasource: { uid: "${datasource}" }, targets: [{ expr: "a" }] };
  assert.deepEqual(queries({ panels: [{ type: "row" }, panel] }), [{ panel: "A", query: "a" }]);
  assert.throws(() => queries({ panels: [{ ...panel, targets: [] }] }), /"A" has no query/);
  assert.throws(() => queries({ panels: [{ ...panel, datasource: { uid: "mine" } }] }), /data source/);
  assert.equal(filled('a{b=~"$job"}[$__rate_interval]', "5s"), 'a{b=~".+"}[5s]');
  assert.throws(() => filled("a[$__range]", "5s"), /\$__range/);
  for (const { query } of readQueries()) assert.match(filled(query, "5s"), /groupwire_/);
});
