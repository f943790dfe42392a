// Reads the repository: its files, its version, the address of its public host.

import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

const manifest = readFileSync(join(ROOT, "Cargo.toml"), "utf8");
const field = (name) => new RegExp(`^${name} = "([^"]+)"`, "m").exec(manifest)?.[1];

/** The version of all packages. */
export const VERSION = field("version");

/** The address of the repository on its public host; undefined as long as it has none. */
export const REPOSITORY = field("repository")?.replace(/\/$/, "");

export const read = (path) => readFileSync(join(ROOT, path), "utf8");

export const isFile = (path) => existsSync(join(ROOT, path)) && statSync(join(ROOT, path)).isFile();

/** The Markdown files of a folder and its folders. */
export function markdownIn(folder) {
  return readdirSync(join(ROOT, folder), { recursive: true })
    .filter((name) => name.endsWith(".md") && !name.includes("node_modules"))
    .map((name) => join(folder, name))
    .sort();
}
