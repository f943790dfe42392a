// The pages that only the site has, in web/site/pages. Two kinds of comments in them are replaced:
//
//   <!-- rows of docs/compared.md: A; B -->   the table of docs/compared.md with these rows
//   <!-- crates -->                           the Rust crates, with their descriptions

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { unmarked } from "../../../scripts/markdown.mjs";
import { addressOf, titleOf } from "./pages.mjs";
import { isFile, read, ROOT } from "./repository.mjs";

const FOLDER = join(ROOT, "web/site/pages");

export async function ownPages() {
  const names = readdirSync(FOLDER, { recursive: true }).filter((name) => name.endsWith(".md"));
  return names.map((name) => {
    const source = `web/site/pages/${name}`;
    const markdown = read(source)
      .replaceAll(/<!-- rows of docs\/compared\.md: (.*) -->/g, (_, rows) => compared(rows.split("; ")))
      .replaceAll("<!-- crates -->", crates);
    return { page: name.replace(/\.md$/, ""), source, title: titleOf(source, markdown), markdown, images: [] };
  });
}

/** These rows of the table of features, without its links and without its column of tests. */
function compared(names) {
  const table = read("docs/compared.md")
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -2)
        .map((cell) => unmarked(cell)),
    );
  const [head, rule, ...rows] = table;
  const chosen = names.map((name) => {
    const row = rows.find(([first]) => first === name);
    if (!row) throw new Error(`docs/compared.md has no row "${name}": correct web/site/pages/index.md`);
    return row;
  });
  return [head, rule, ...chosen].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** A row for each Rust crate that is to be published. */
function crates() {
  const rows = readdirSync(join(ROOT, "crates")).flatMap((folder) => {
    if (!isFile(`crates/${folder}/Cargo.toml`)) return [];
    const manifest = read(`crates/${folder}/Cargo.toml`);
    // Whoever is not published says so, by this field.
    if (/^publish/m.test(manifest)) return [];
    const field = (name) => new RegExp(`^${name} = "(.*)"$`, "m").exec(manifest)?.[1];
    const readme = `crates/${folder}/README.md`;
    const name = isFile(readme) ? `[${field("name")}](/${addressOf(readme)}.md)` : field("name");
    return [`| ${name} | ${field("description")} | \`docs.rs/${field("name")}\` |`];
  });
  return ["| crate | what it is | its documentation, once it is published |", "| --- | --- | --- |", ...rows].join(
    "\n",
  );
}
