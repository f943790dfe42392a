// What a result of scripts/evidence.mjs comes to, in words: a summary for a terminal, and
// docs/evidence.md.

import { totals } from "../experiments/report/page/verdicts.js";

/** Verdicts in words. */
const WORDS = { holds: "reproduced", differs: "**differs**", missing: "not measured", none: "–" };
const SIDES = { again: "its own method, run again", ours: "Groupwire" };

const counted = (registry) => registry.entries.filter((entry) => entry.counted);

/** Two lines: how many entries reproduce in the papers' own methods, and how many in ours. */
export function summary(registry, result) {
  return Object.entries(SIDES)
    .map(([side, name]) => {
      const { holds, differs, missing, applicable } = totals(registry.entries, result.entries, side);
      return `${name}: ${holds} of ${applicable} reproduced, ${differs} differ, ${missing} not measured`;
    })
    .join("\n");
}

/** The document: verdicts of all entries that count, and why those differ that do. */
export function markdown(registry, result) {
  const lines = [
    "<!-- Made by `node scripts/evidence.mjs --record` of lab/evidence/result.json; a check compares both. -->",
    "",
    "# The papers' tables and figures, reproduced",
    "",
    registry.about,
    "",
    "`make evidence` measures all of it anew, goes on where it was stopped, and writes a page with every value and plot,",
    "`target/evidence/index.html`; `make quick-evidence` takes minutes and has every row.",
    "",
    ...result.measured.flatMap((one) => [measured(one), ""]),
    ...summary(registry, result)
      .split("\n")
      .map((line) => `- ${line}`),
    "",
    "| | what it shows | its own method, run again | Groupwire |",
    "| --- | --- | --- | --- |",
    ...counted(registry).map(({ id, paper, label, caption }) => {
      const { again, ours } = result.entries[id];
      return `| ${registry.papers[paper].name}, ${label} | ${caption} | ${cell(again)} | ${cell(ours)} |`;
    }),
    "",
    "## What differs, and why",
    "",
  ];
  for (const entry of counted(registry)) {
    const differing = Object.keys(SIDES).filter((side) => result.entries[entry.id][side].verdict === "differs");
    if (differing.length === 0) continue;
    lines.push(`### ${registry.papers[entry.paper].name}, ${entry.label}`, "");
    for (const side of differing) {
      const because = entry.because?.[side] ?? "Not explained yet.";
      lines.push(`${SIDES[side]} (${result.entries[entry.id][side].lines.join("; ")}): ${because}`, "");
    }
  }
  return `${lines.join("\n").trimEnd()}\n`;
}

/** Which experiments were measured, and on what. */
function measured({ runs, quick, commits, machine }) {
  const names = (ids) => ids.map((id) => `\`${id}\``).join(", ");
  const rough = quick.length ? ` Measured quickly, so that figures are rough: ${names(quick)}.` : "";
  const at = `${commits.length > 1 ? "commits" : "commit"} ${commits.join(", ")}`;
  return `${names(runs)}: measured at ${at}, on ${machine.cores} cores of ${machine.processor}, ${machine.memoryGb} GB, Linux ${machine.kernel}.${rough}`;
}

const cell = ({ verdict, lines }) => `${WORDS[verdict]}${lines.length ? `; ${lines.join("; ")}` : ""}`;
