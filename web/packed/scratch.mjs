// The folder in which the programs are tried: a copy of this one, in which the packed package is
// installed.

import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const WEB = fileURLToPath(new URL("../", import.meta.url));

/** Outside of web/, so that no program finds the packages that are installed there. */
export const SCRATCH = fileURLToPath(new URL("../../target/packed/", import.meta.url));

/** The folder of the programs, with the dependencies of all of them. */
export const PROGRAMS = `${SCRATCH}programs/`;

/** Packs the package of a folder of web/, and returns the path of the file. */
export function pack(name = "client") {
  const packages = `${SCRATCH}packages/${name}/`;
  rmSync(packages, { recursive: true, force: true });
  mkdirSync(packages, { recursive: true });
  return packInto(packages, name);
}

/** Packs the package of a folder of web/ into a folder, and returns the path of the file. */
export function packInto(folder, name) {
  const before = new Set(readdirSync(folder));
  npm(`${WEB}${name}/`, "pack", "--pack-destination", folder);
  return folder + readdirSync(folder).find((file) => file.endsWith(".tgz") && !before.has(file));
}

/** Makes the folder of the programs, and returns the path of the packed package. */
export function prepare() {
  mkdirSync(PROGRAMS, { recursive: true });
  const packed = pack();
  cpSync(HERE, PROGRAMS, { recursive: true });
  installDependencies();
  // As `npm install` does it with a package that has no dependencies, but without looking at all
  // the others.
  const folder = `${PROGRAMS}node_modules/groupwire`;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  execFileSync("tar", ["-xzf", packed, "--strip-components=1", "-C", folder]);
  return packed;
}

/**
 * Makes a folder with a package of its own, in which only these packages are installed. Returns its
 * path.
 */
export function install(name, ...packages) {
  const folder = `${SCRATCH}${name}/`;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  npm(folder, "init", "--yes");
  npm(folder, "install", "--no-audit", "--no-fund", "--prefer-offline", ...packages);
  return folder;
}

/** Installs what the lock file names, unless it is installed already. */
function installDependencies() {
  const [wanted, there] = ["package-lock.json", "installed.json"].map((name) => PROGRAMS + name);
  if (existsSync(there) && readFileSync(there).equals(readFileSync(wanted))) return;
  console.log("packed: installing bundlers and frameworks (once, about three minutes)");
  npm(PROGRAMS, "ci", "--no-audit", "--no-fund");
  cpSync(wanted, there);
}

function npm(folder, ...args) {
  execFileSync("npm", ["--silent", ...args], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
}
