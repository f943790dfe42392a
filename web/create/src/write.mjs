/** Writes an application from a template. */

import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync, statSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Mistake } from "./options.mjs";

/** The folder of the templates. */
export const FOLDER = fileURLToPath(new URL("../templates/", import.meta.url));

/** Throws if something is in the folder. A repository of Git without files is as good as empty. */
export function checkFolder(folder) {
  if (!existsSync(folder)) return;
  if (!statSync(folder).isDirectory())
    throw new Mistake(`${folder} is a file: name a folder that is empty or not there`);
  const names = readdirSync(folder).filter((name) => name !== ".git");
  if (names.length === 0) return;
  const some = names.slice(0, 3).join(", ") + (names.length > 3 ? " and others" : "");
  throw new Mistake(`the folder ${folder} is not empty (${some}), and nothing was written: name another folder`);
}

/**
 * Writes an application into a folder, which is made if it is missing.
 *
 * @param packages - a folder with packages of Groupwire that `npm pack` has made, to be installed
 *   in place of those of the registry @example
 * ```js
 * writeApplication("my-app", "react");
 * ```
 */
export function writeApplication(folder, template, packages) {
  const description = describe(folder, template, packages);
  mkdirSync(folder, { recursive: true });
  for (const layer of ["common", template]) cpSync(join(FOLDER, layer), folder, { recursive: true });
  // npm leaves files of this name out of a package.
  renameSync(join(folder, "_gitignore"), join(folder, ".gitignore"));
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(description, undefined, 2)}\n`);
}

/** The packages of Groupwire that an application of this template needs: `{ name, version }`. */
export function ownPackages(template) {
  const { dependencies } = templateOf(template);
  return Object.entries(dependencies)
    .filter(([name]) => isOwn(name))
    .map(([name, version]) => ({ name, version }));
}

const templateOf = (template) => JSON.parse(readFileSync(join(FOLDER, template, "package.json"), "utf8"));

/** The package.json of the application. */
function describe(folder, template, packages) {
  const { name: _, ...description } = templateOf(template);
  const dependencies = { ...description.dependencies };
  if (packages !== undefined) {
    for (const name of Object.keys(dependencies).filter(isOwn)) dependencies[name] = fileOf(packages, name);
  }
  return { name: nameOf(folder), ...description, dependencies };
}

const isOwn = (name) => name === "groupwire" || name.startsWith("groupwire-");

/** The file of a package, as npm names it in package.json. */
function fileOf(packages, name) {
  const form = new RegExp(`^${name}-\\d.*\\.tgz$`);
  const files = existsSync(packages) ? readdirSync(packages).filter((file) => form.test(file)) : [];
  if (files.length === 1) return `file:${resolve(packages, files[0])}`;
  const found = files.length === 0 ? "no file" : "several files";
  throw new Mistake(`the folder ${packages} has ${found} ${name}-VERSION.tgz: make one with npm pack`);
}

/** A name that npm permits for a package, of the folder's name. */
function nameOf(folder) {
  const name = basename(resolve(folder))
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, "-")
    .replaceAll(/^[._-]+|-+$/g, "");
  // npm's own limit is 214 characters.
  return name.slice(0, 200) || "groupwire-app";
}
