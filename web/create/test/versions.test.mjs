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

/** Next.js and its types are installed by web/packed alone. */
const { packages: packed } = readJson("packed/package-lock.json");

/** The versions of a package that programs in web/create, the repository or web/packed get. */
function testedVersions(name) {
  const own = /^groupwire(?:-(\w+))?$/.exec(name);
  if (own) return [readJson(`${own[1] ?? "client"}/package.json`).version];
  const here = [`create/node_modules/${name}`, `node_modules/${name}`].flatMap((path) => packages[path]?.version ?? []);
  const there = [`apps/next16/node_modules/${name}`, `node_modules/${name}`].flatMap(
    (path) => packed[path]?.version ?? [],
  );
  return here.length > 0 ? here : there;
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
