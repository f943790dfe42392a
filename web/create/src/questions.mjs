/** The questions on a terminal. */

import { createInterface } from "node:readline/promises";
import { Mistake } from "./options.mjs";
import { TEMPLATES } from "./templates.mjs";

const FOLDER = "groupwire-app";

/**
 * Asks for the folder and the template, as far as they are not given. `input` and `output` are the
 * streams of the terminal.
 *
 * @example
 * ```js
 * const { folder, template } = await ask({ folder: "my-app" }, process.stdin, process.stdout);
 * ```
 */
export async function ask({ folder, template }, input, output) {
  const terminal = createInterface({ input, output });
  // Without it, a program whose input ends would end without a word.
  const ended = new Promise((_, reject) => {
    const stop = () => reject(new Mistake("stopped, and nothing was written"));
    terminal.once("close", stop).once("SIGINT", () => {
      output.write("\n");
      stop();
    });
  });
  // The end after the last answer is no error.
  ended.catch(() => {});
  const question = (text) => Promise.race([terminal.question(text), ended]);
  try {
    folder ??= (await question(`Folder of the application (${FOLDER}): `)).trim() || FOLDER;
    template ??= await askForTemplate(question, output);
    return { folder, template };
  } finally {
    terminal.close();
  }
}

async function askForTemplate(question, output) {
  output.write(`Templates:\n${TEMPLATES.map(({ name, title }, at) => `  ${at + 1}  ${name}: ${title}\n`).join("")}`);
  const [first] = TEMPLATES;
  for (;;) {
    const answer = (await question(`Template, by number or name (${first.name}): `)).trim().toLowerCase() || first.name;
    const chosen = TEMPLATES.find(({ name }, at) => name === answer || String(at + 1) === answer);
    if (chosen) return chosen.name;
    output.write(`There is no template ${answer}.\n`);
  }
}
