// Servers of pages: the development servers and build tools of others as child processes, and one
// for static files.

import { execFile, spawn } from "node:child_process";
import { createReadStream, existsSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, extname, join } from "node:path";
import { promisify } from "node:util";
import { until } from "../e2e/wait.mjs";
import { freePort } from "../../scripts/ports.mjs";

const TYPES = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".wasm": "application/wasm",
};

/** Long enough for the first build of a framework on a busy machine. */
const START_MS = 180_000;

const ENVIRONMENT = { ...process.env, NEXT_TELEMETRY_DISABLED: "1", NO_COLOR: "1" };

/**
 * Path of a command of a package that the program in `folder` has installed, there or in a folder
 * above.
 */
export function command(folder, name, path) {
  const file = join(folder, "node_modules", name, path);
  return existsSync(file) ? file : command(dirname(folder), name, path);
}

/** Runs a command to its end, such as a build. */
export async function run(folder, ...args) {
  await promisify(execFile)(process.execPath, args, { cwd: folder, env: ENVIRONMENT }).catch((error) => {
    throw new Error(`${args.join(" ")}: ${error.message}\n${error.stdout}`);
  });
}

/** Starts a command that serves pages, with a port in place of the argument `PORT`. */
export async function start(folder, ...args) {
  const port = await freePort();
  const command = args.map((arg) => (arg === "PORT" ? String(port) : arg));
  const child = spawn(process.execPath, command, {
    cwd: folder,
    env: ENVIRONMENT,
    stdio: ["ignore", "pipe", "pipe"],
    // A process group of its own, because these commands start others.
    detached: true,
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (said += data));
  const close = () => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid, "SIGKILL");
  };
  process.once("exit", close);
  const url = `http://localhost:${port}/`;
  try {
    const answers = () =>
      fetch(url).then(
        ({ ok }) => ok,
        () => child.exitCode !== null,
      );
    await until(`${args.join(" ")} serves`, answers, START_MS);
    if (child.exitCode !== null) throw new Error(`${args.join(" ")} has ended`);
  } catch (error) {
    close();
    throw new Error(`${error.message}\n${said}`, { cause: error });
  }
  return { url, close, said: () => said };
}

/** Serves the files of folders, the first that has the file, with further headers. */
export async function serveFiles(folders, headers = {}) {
  const server = createServer(({ url }, response) => {
    const { pathname } = new URL(url, "http://localhost");
    const path = pathname.endsWith("/") ? `${pathname}index.html` : pathname;
    const file = folders
      .map((folder) => join(folder, path))
      .find((file) => existsSync(file) && statSync(file).isFile());
    if (!file) return response.writeHead(404).end();
    response.writeHead(200, { ...headers, "content-type": TYPES[extname(file)] ?? "application/octet-stream" });
    createReadStream(file).pipe(response);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}
