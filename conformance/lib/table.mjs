// The table of the results, for people and for docs/conformance.md.

import { readFileSync, writeFileSync } from "node:fs";

const page = new URL("../../docs/conformance.md", import.meta.url);
const [BEGIN, END] = ["<!-- results -->", "<!-- end of results -->"];

/** The table, a sentence with the counts, and how many have failed. */
export function tableOf(scenarios, drivers, results) {
  const languages = drivers.map(({ language }) => language);
  const cell = (language, name) => results.find((one) => one.language === language)?.cells.get(name) ?? "skipped";
  const rows = scenarios.map(({ name, what }) => [what, ...languages.map((language) => cell(language, name))]);
  const lines = [["scenario", ...languages], ["---", ...languages.map(() => "---")], ...rows];
  const cells = rows.flatMap((row) => row.slice(1));
  const count = (word) => cells.filter((one) => one === word).length;
  const failed = count("FAILED");
  const counts = `${count("yes")} passed, ${failed} failed, ${count("not yet")} not yet, ${count("skipped")} skipped`;
  return {
    text: lines.map((line) => `| ${line.join(" | ")} |`).join("\n"),
    summary: `${scenarios.length} scenarios in ${languages.length} languages: ${counts}`,
    failed,
  };
}

/** True if the page has this table. */
export function checkTable(table) {
  return parts().table === table;
}

export function writeTable(table) {
  const { before, after } = parts();
  writeFileSync(page, `${before}\n\n${table}\n\n${after}`);
}

function parts() {
  const text = readFileSync(page, "utf8");
  const [begin, end] = [text.indexOf(BEGIN) + BEGIN.length, text.indexOf(END)];
  if (begin < BEGIN.length || end < begin) throw new Error(`docs/conformance.md needs ${BEGIN} and ${END}`);
  return { before: text.slice(0, begin), table: text.slice(begin, end).trim(), after: text.slice(end) };
}
