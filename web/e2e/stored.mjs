// Servers whose rooms are stored, each in a folder of its own, which is removed after the tests of
// the file.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { Server } from "./server.mjs";

const folders = [];
after(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))));

/** Starts a server with these options that stores its rooms. */
export async function stored(...options) {
  const folder = await mkdtemp(join(tmpdir(), "groupwire-yjs-"));
  folders.push(folder);
  return Server.start("--data", folder, ...options);
}
