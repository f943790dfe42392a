/** The arguments of the command. */

import { parseArgs } from "node:util";
import { TEMPLATES } from "./templates.mjs";

/** What the user has done wrong; the message says what to do. */
export class Mistake extends Error {}

/** A path as a word of a shell. */
export const quoted = (path) => (/^[\w./-]+$/.test(path) ? path : JSON.stringify(path));

export const FORM = `npm create groupwire FOLDER -- --template ${TEMPLATES.map(({ name }) => name).join("|")}`;

export const HELP = `Starts an application on Groupwire.

  ${FORM}

Asks for what is missing if it runs on a terminal.

  --template NAME    ${TEMPLATES.map(({ name, title }) => `${name}: ${title}`).join("\n                     ")}
  --packages FOLDER  install the packages of Groupwire from files in this folder that
                     npm pack has made, in place of those of the registry: for as long
                     as the registry lacks them
  --help             this text

FOLDER has to be empty, or is made.`;

/** What the arguments say: `folder` and `template` are undefined if they are not there. */
export function options(args) {
  const { values, positionals } = parsed(args);
  const [folder, ...others] = positionals;
  if (others.length > 0) throw new Mistake(`name one folder, not ${positionals.length}: ${FORM}`);
  if (folder === "") throw new Mistake(`the folder's name is empty: ${FORM}`);
  const { template } = values;
  if (template !== undefined && !TEMPLATES.some(({ name }) => name === template)) {
    throw new Mistake(`there is no template ${template}; there are ${TEMPLATES.map(({ name }) => name).join(", ")}`);
  }
  return { ...values, folder };
}

function parsed(args) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        template: { type: "string", short: "t" },
        packages: { type: "string" },
        help: { type: "boolean", short: "h" },
      },
    });
  } catch (error) {
    if (!String(error.code).startsWith("ERR_PARSE_ARGS")) throw error;
    throw new Mistake(`${error.message}\n\n${HELP}`);
  }
}
