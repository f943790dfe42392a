// What the servers of the lab's experiment fanout have in common.

const { readFileSync } = require("node:fs");
const { join } = require("node:path");

/** Milliseconds that messages are collected; 0: they are sent at once. */
exports.tick = Number(process.argv[2] ?? 0);

/** Says on standard output where the server is and what it is. */
exports.announce = (port, what) => console.log(`listening ${port} ${what}`);

/** The version of an installed package. */
exports.version = (name) =>
  JSON.parse(readFileSync(join(__dirname, "node_modules", name, "package.json"), "utf8")).version;
