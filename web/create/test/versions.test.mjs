/**
 * The versions that the templates install are exact, and those with which this repository is
 * tested.
 */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { TEMPLATES } from "../src/templates.mjs";

const web = fileURLToPath(new URL("../../", import.meta.url));
const readJson = (path) => JSON.parse(readFileSync(web + path, "utf8"));
const { packages } = readJson("package-lock.json");

/** The version of a package that programs in web/create get, or those of the whole repository. */
function testedVersions(name) {
  const own = /^groupwire(?:-(\w+))?$/.exec(name);
  if (own) return [readJson(`${own[1] ?? "client"}/package.json`).version];
  return [`create/node_modules/${name}`, `node_modules/${name}`].flatMap((path) => packages[path]?.version ?? []);
}

test.each(TEMPLATES)("the template $name", ({ name }) => {
  const { dependencies, devDependencies } = readJson(`create/templates/${name}/package.json`);
  const wanted = Object.entries({ ...dependencies, ...devDependencies });
  expect(wanted.length).toBeGreaterThan(2);
  for (const [dependency, version] of wanted) {
    expect(version, dependency).toMatch(/^\d+\.\d+\.\d+$/);
    expect(testedVersions(dependency), dependency).toContain(version);
  }
});
