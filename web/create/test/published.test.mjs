/**
 * The packages are in no registry yet. Every page that tells a newcomer to install one by its name
 * says where it comes from until then. Once they are published, the notes and this file go.
 */

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/**
 * Commands that fetch a package of Groupwire from a registry. A path instead of a name needs none.
 */
const FETCHES =
  /^[^#\n]*\b(?:npm (?:install|create)|cargo (?:install|add)|npx) (?!.*--path)[^\n]*\bgroupwire(?:-[a-z]+)?\b/m;

/** Links to the sections that say what to do before the packages are published. */
const MEANWHILE = /\((?:[\w./]*README\.md)?#(?:install-it|before-the-packages-are-in-the-registry)\)/;

const pages = execFileSync("git", ["ls-files", "--", "*.md"], { cwd: ROOT, encoding: "utf8" })
  .trim()
  .split("\n")
  .filter((page) => page !== "CHANGELOG.md");

/** The commands of a page: its blocks for a shell, and what stands in code within the text. */
function commands(text) {
  const blocks = [...text.matchAll(/^```(?:sh)?\n(.*?)^```$/gms)].map(([, code]) => code);
  const inline = [...text.matchAll(/`((?:npm (?:install|create)|cargo (?:install|add)) [^`\n]+)`/g)].map(
    ([, code]) => code,
  );
  return [...blocks, ...inline].join("\n");
}

test("pages that fetch packages of Groupwire by name say what to do before they are in a registry", () => {
  const fetching = pages.filter((page) => FETCHES.test(commands(readFileSync(ROOT + page, "utf8"))));
  expect(fetching).toEqual(
    expect.arrayContaining(["web/client/README.md", "crates/cli/README.md", "docs/guide/README.md"]),
  );
  const silent = fetching.filter((page) => {
    const text = readFileSync(ROOT + page, "utf8");
    return !MEANWHILE.test(text) && !/^## (?:Install it|Before the packages are in the registry)$/m.test(text);
  });
  expect(silent).toEqual([]);
});

test("no page links to a package's place in a registry", () => {
  const linking = pages.filter((page) =>
    /(?:npmjs\.com\/package|crates\.io\/crates|docs\.rs)\/groupwire/.test(readFileSync(ROOT + page, "utf8")),
  );
  expect(linking).toEqual([]);
});
