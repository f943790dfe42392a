/** Looks into the registry before an application is written whose packages npm would not find. */

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Mistake, quoted } from "./options.mjs";

/**
 * The longest wait for the registry (ms): if it takes longer, the question is left to `npm
 * install`.
 */
const PATIENCE_MS = 30_000;

/** The sources of Groupwire, if this program runs within them. */
const SOURCES = fileURLToPath(new URL("../../../", import.meta.url));

/**
 * Throws if the registry lacks one of the packages, `{ name, version }`. Returns what to tell the
 * user if the registry could not be asked, otherwise undefined.
 */
export async function checkRegistry(packages) {
  let lacking;
  try {
    const has = await Promise.all(packages.map(isThere));
    lacking = packages.filter((_, at) => !has[at]);
  } catch (error) {
    return `The registry could not be asked for the packages of Groupwire (${error.message}).
If it lacks them, npm install fails with E404: create-groupwire --help tells of --packages.`;
  }
  if (lacking.length > 0) throw new Mistake(advice(lacking, packages));
  return undefined;
}

/** Asks by npm, which knows the user's registry, the way to it, and the user's rights there. */
async function isThere({ name, version }) {
  const args = ["view", `${name}@${version}`, "version", "--json", "--fetch-retries=0"];
  const shell = process.platform === "win32";
  try {
    const { stdout } = await promisify(execFile)("npm", args, { timeout: PATIENCE_MS, shell });
    return stdout.trim() !== "";
  } catch (error) {
    const { code, summary } = errorOf(error.stdout);
    if (code === "E404") return false;
    throw new Error(summary ?? (error.killed ? "it does not answer" : error.message.split("\n")[0]), { cause: error });
  }
}

/** The error that npm writes as JSON. */
function errorOf(stdout) {
  try {
    return JSON.parse(stdout).error ?? {};
  } catch {
    return {};
  }
}

/** What is lacking, and how to make it from the sources. */
function advice(lacking, packages) {
  const names = lacking.map(({ name, version }) => `${name} ${version}`).join(" and ");
  const isCheckout = existsSync(`${SOURCES}web/client/package.json`);
  const where = isCheckout ? `cd ${quoted(SOURCES)}\n  ` : "";
  const folders = packages.map(({ name }) => name.replace(/^groupwire-?/, "") || "client").join(" ");
  return `the registry does not have ${names}, so npm install would fail, and nothing was written.
Make the packages from the sources of Groupwire${isCheckout ? "" : ", in the folder of its repository"}:

  ${where}make build
  mkdir -p packages
  for name in ${folders}; do npm pack ./web/$name --pack-destination packages; done

Then run this command again with --packages ${isCheckout ? quoted(`${SOURCES}packages`) : "and that folder"}.`;
}
