// Sizes of the JavaScript of each package and entry, bundled alone and minified. Packages that the
// application has anyway (its framework, Yjs and the package `groupwire`) do not count.

import { fileURLToPath } from "node:url";
import { bundle, loadedFirst, withoutOpus } from "../../scripts/check-size.mjs";

const web = fileURLToPath(new URL("../", import.meta.url));
const PRESENT = /^(groupwire(\/store)?|react|vue|solid-js|svelte(\/reactivity)?|yjs|y-protocols\/.*|lib0\/.*)$/;

/** Each entry: what one imports, its file, and whether it loads all of its chunks at once. */
export const ENTRIES = [
  ["groupwire", "client/dist/index.js"],
  ["groupwire/shared", "client/dist/shared.js"],
  ["groupwire/motion", "client/dist/motion.js"],
  ["groupwire/voice", "client/dist/voice.js"],
  ["groupwire/schema", "client/dist/schema.js"],
  ["groupwire/store", "client/dist/store.js"],
  ["groupwire-react", "react/dist/index.js"],
  ["groupwire-react/suspense", "react/dist/suspense.js"],
  ["groupwire-vue", "vue/dist/index.js"],
  ["groupwire-svelte", "svelte/dist/index.js"],
  ["groupwire-solid", "solid/dist/index.js"],
  ["groupwire-yjs", "yjs/dist/index.js"],
];

/** The code that an application loads for an entry before the first message. */
export async function codeOf([name, file]) {
  const chunks = await bundle(web + file, name === "groupwire" ? [] : PRESENT);
  return (name === "groupwire" ? loadedFirst(chunks) : withoutOpus(chunks)).map(({ code }) => code);
}
