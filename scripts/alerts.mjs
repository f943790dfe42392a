// The alert rules for Prometheus, made of the table of alerts in docs/operations/monitoring.md, so
// that the two never differ.
//
//   node scripts/alerts.mjs     writes packaging/prometheus/alerts.yml

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const file = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));

export const DOCUMENTATION = file("docs/operations/monitoring.md");
export const RULES = file("packaging/prometheus/alerts.yml");

const HEAD = "| alert | expression | for | severity | why, and what to do |";

/**
 * The alerts in a Markdown text: { name, expression, duration, severity, why }. Throws on a row
 * that it cannot read.
 */
export function alerts(markdown) {
  const lines = markdown.split("\n");
  const head = lines.indexOf(HEAD);
  if (head < 0) throw new Error(`there is no table with the head ${HEAD}`);
  const rows = lines.slice(head + 2);
  return rows
    .slice(
      0,
      rows.findIndex((line) => !line.startsWith("|")),
    )
    .map(alert);
}

function alert(row) {
  // A bar inside of a cell is written \|.
  const cells = row.split(/(?<!\\)\|/).slice(1, -1);
  const [name, expression, duration, severity, why] = cells.map((cell) => cell.trim().replaceAll("\\|", "|"));
  const isFine =
    cells.length === 5 &&
    /^Groupwire[A-Z][A-Za-z]+$/.test(name) &&
    /^`[^`]+`$/.test(expression) &&
    /^\d+m$/.test(duration) &&
    ["page", "ticket"].includes(severity);
  if (!isFine) throw new Error(`cannot read this row of alerts: ${row}`);
  return { name, expression: expression.slice(1, -1), duration, severity, why };
}

/** The rules as a file of Prometheus. */
export function rules(alerts) {
  const lines = [
    "# Alert rules for Prometheus. This file is made of the table of alerts in docs/operations/monitoring.md: change",
    "# that, and run `node scripts/alerts.mjs`.",
    "groups:",
    "  - name: groupwire",
    "    rules:",
  ];
  for (const { name, expression, duration, severity, why } of alerts) {
    lines.push(
      `      - alert: ${name}`,
      // What JSON quotes, YAML reads.
      `        expr: ${JSON.stringify(expression)}`,
      `        for: ${duration}`,
      `        labels: { severity: ${severity} }`,
      `        annotations: { summary: ${JSON.stringify(summary(why))} }`,
    );
  }
  return lines.join("\n") + "\n";
}

/** A cell of Markdown without links, with quotes for marks of code. */
function summary(text) {
  return text.replaceAll(/ ?\(?\[([^\]]*)\]\([^)]*\)\)?/g, "").replaceAll("`", "'");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(RULES, rules(alerts(readFileSync(DOCUMENTATION, "utf8"))));
}
