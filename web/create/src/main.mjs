#!/usr/bin/env node
/** The command create-groupwire: `npm create groupwire my-app -- --template react`. */

import { ask } from "./questions.mjs";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { FORM, HELP, Mistake, options, quoted } from "./options.mjs";
import { checkRegistry } from "./registry.mjs";
import { checkFolder, ownPackages, writeApplication } from "./write.mjs";

/** Where the templates' development server serves an application. */
const PAGE = "http://localhost:5173";

const NO_SERVER = `

This machine has no command groupwire on its PATH. In the repository of Groupwire, make build makes it:
target/release/groupwire.`;

try {
  await main(process.argv.slice(2));
} catch (error) {
  // An error of the file system has a code, and its message names the file.
  if (!(error instanceof Mistake) && error.code === undefined) throw error;
  console.error(`create-groupwire: ${error.message}`);
  process.exitCode = 1;
}

async function main(args) {
  const given = options(args);
  if (given.help) return console.log(HELP);
  // A wrong folder is reported before any question is asked.
  if (given.folder !== undefined) checkFolder(given.folder);
  const { folder, template } = await complete(given);
  checkFolder(folder);
  const note = given.packages === undefined ? await checkRegistry(ownPackages(template)) : undefined;
  writeApplication(folder, template, given.packages);
  console.log(nextSteps(folder, process.env.npm_config_user_agent));
  if (note !== undefined) console.log(`\n${note}`);
}

/** Asks for what the arguments lack, on a terminal. */
function complete(given) {
  if (given.folder !== undefined && given.template !== undefined) return given;
  if (process.stdin.isTTY && process.stdout.isTTY) return ask(given, process.stdin, process.stdout);
  const lacks = given.folder === undefined ? "name a folder" : "name a template";
  throw new Mistake(`${lacks}: ${FORM}`);
}

/** What to do next, with the commands of the package manager that has started this program. */
function nextSteps(folder, agent = "") {
  const manager = /^(pnpm|yarn|bun)\//.exec(agent)?.[1] ?? "npm";
  const run = manager === "npm" ? "npm run dev" : `${manager} dev`;
  const enter = folder !== "." ? `cd ${quoted(folder)} && ` : "";
  return `
The application is in ${folder}. Start a server in one terminal, and the page in another one:

  groupwire serve --origin ${PAGE}
  ${enter}${manager} install && ${run}

Then open ${PAGE} in two windows.${hasServer() ? "" : NO_SERVER}`;
}

/** Returns true if a shell finds the command `groupwire`. */
function hasServer() {
  const names = process.platform === "win32" ? ["groupwire.exe"] : ["groupwire"];
  const folders = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  return folders.some((folder) => names.some((name) => isProgram(join(folder, name))));
}

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
