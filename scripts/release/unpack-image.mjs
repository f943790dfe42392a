// Unpacks the file system of an image, and prints its configuration: unpack-image.mjs LAYOUT ROOT.
// LAYOUT is the unpacked archive for `docker load`.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const [layout, root] = process.argv.slice(2);
const [{ Config, Layers }] = JSON.parse(readFileSync(join(layout, "manifest.json")));
for (const layer of Layers) {
  execFileSync("tar", ["--extract", "--gzip", "--same-owner", "--directory", root, "--file", join(layout, layer)]);
}
console.log(JSON.stringify(JSON.parse(readFileSync(join(layout, Config))).config));
