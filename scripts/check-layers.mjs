// Checks that the files of crates/server import only downwards. LAYERS lists the folders of its
// sources from the top; folders of one layer stand side by side and know nothing of each other.
// Within a folder, files import each other freely, which check-cycles.mjs looks at. As there, a
// `mod` declaration is no import, and neither is anything under #[cfg(test)].
//
// Run it from anywhere: node scripts/check-layers.mjs

import { fileURLToPath } from "node:url";
import { imports, sources } from "./check-cycles.mjs";

const LAYERS = [
  // What the crate exports.
  ["lib.rs"],
  // Puts the parts together, starts and ends them.
  ["server"],
  // The public listeners, and the listeners for administration.
  ["listen"],
  ["admin", "admin_http"],
  // What is shown of rooms and of the whole server.
  ["inspect", "metrics"],
  // Connections of clients: what carries their packets, documents of Yjs, single requests of users.
  ["user_http", "yjs", "webtransport"],
  ["transport"],
  // Shares the rooms with other servers, and passes connections on to them.
  ["cluster"],
  // The directory of rooms, and the task of each room.
  ["rooms"],
  // What rooms and transports use: each folder stands on its own.
  ["tls", "web", "webhook"],
  ["access", "addresses", "arrivals", "certificate", "durable", "ends", "lifecycle"],
  ["traces"],
  ["error", "figures", "tools"],
];

// Imports that run up or sideways and are known, each with its reason: "from -> to": "why".
const EXCEPTIONS = {};

/**
 * What is wrong with the imports of a crate, by its layers. `edges` maps each file to the files
 * that it imports.
 */
export function wrongImports(edges, layers = LAYERS, exceptions = EXCEPTIONS) {
  const place = (file) => file.split("/")[0];
  const rank = (file) => layers.findIndex((layer) => layer.includes(place(file)));
  const wrong = [];
  const excused = new Set();
  for (const [file, targets] of edges) {
    if (rank(file) < 0) wrong.push(`${file}: in no layer; say in LAYERS of scripts/check-layers.mjs where it belongs`);
    for (const target of targets) {
      const isFine = rank(target) < 0 || place(file) === place(target) || rank(file) < rank(target);
      const name = `${file} -> ${target}`;
      if (name in exceptions) excused.add(name);
      if (isFine || rank(file) < 0 || name in exceptions) continue;
      const how = rank(file) === rank(target) ? "sideways" : "up";
      wrong.push(`${name}: this import runs ${how}`);
    }
  }
  for (const name of Object.keys(exceptions)) {
    if (!excused.has(name)) wrong.push(`${name}: it is excused and does not exist; delete it from EXCEPTIONS`);
  }
  return wrong;
}

function main() {
  const edges = imports(sources("server"));
  const wrong = wrongImports(edges);
  if (wrong.length > 0) {
    console.error("check-layers: the layers in scripts/check-layers.mjs are broken:");
    for (const line of wrong) console.error(`  ${line}`);
    console.error(`check-layers: ${wrong.length} faults`);
    process.exitCode = 1;
  } else {
    const excused = Object.keys(EXCEPTIONS).length;
    console.log(
      `check-layers: ${edges.size} files of crates/server import only downwards, but for ${excused} exceptions`,
    );
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
