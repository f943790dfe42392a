// Runs the Python client of docs/wire/python: against the byte vectors, a real server, and three
// servers that share their rooms. This script starts and ends the servers. The first argument is
// the server's binary, the second one nats-server.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startServer } from "./server.mjs";

const script = (name) => fileURLToPath(new URL(name, import.meta.url));
const folder = script("../docs/wire/python");
const [binary, nats] = process.argv.slice(2);

// The client uses features of this version (asyncio's test case, type hints).
const LEAST_PYTHON = [3, 9];

// The servers start within a second; a busy machine takes longer.
const START_MS = 60_000;

const python = findPython();
if (!python) {
  const wanted = LEAST_PYTHON.join(".");
  console.error(
    `test-python: needs python3 ${wanted} or later on the PATH (apt-get install python3, brew install python)`,
  );
  process.exit(1);
}
run("test_vectors.py");
run("test_gmc.py");
run("test_session.py");
run("test_client.py");
const server = await startServer(binary);
run("test_server.py", { GROUPWIRE_URL: `ws://${server.address}` });
await server.kill();
if (nats) {
  const made = mkdtempSync(join(tmpdir(), "groupwire-cluster-"));
  const cluster = spawn(process.execPath, [script("cluster.mjs"), binary, nats, made], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  try {
    run("test_cluster.py", { GROUPWIRE_URLS: (await urlsOf(cluster)).join(" ") });
  } finally {
    cluster.kill();
    await once(cluster, "exit");
    rmSync(made, { recursive: true });
  }
} else {
  console.log("test-python: skipped test_cluster.py, because there is no nats-server");
}

function findPython() {
  return ["python3", "python"].find((name) => {
    const asked = spawnSync(name, ["-c", "import sys; print(*sys.version_info[:2])"], { encoding: "utf8" });
    const [major, minor] = (asked.stdout ?? "").split(" ").map(Number);
    return asked.status === 0 && major === LEAST_PYTHON[0] && minor >= LEAST_PYTHON[1];
  });
}

/**
 * Runs one file of tests. Throws an error if a test fails, or if all are skipped though there is a
 * server; the server ends with this process.
 */
function run(file, env = {}) {
  console.log(`test-python: ${file}`);
  const ran = spawnSync(python, ["-B", file], {
    cwd: folder,
    env: { ...process.env, ...env },
    encoding: "utf8",
  });
  process.stderr.write(ran.stderr);
  if (ran.status !== 0 || /skipped/.test(ran.stderr)) throw new Error(`test-python: ${file} failed`);
}

/** Waits until a cluster has named its three addresses, and returns them. */
function urlsOf(cluster) {
  return new Promise((resolve, reject) => {
    const failed = (why) => reject(new Error(`test-python: the cluster ${why}\n${printed}`));
    let printed = "";
    const late = setTimeout(() => failed("did not start"), START_MS);
    const read = (data) => {
      printed += data;
      const found = [...printed.matchAll(/http:\/\/(127\.0\.0\.1:\d+)/g)];
      if (found.length < 3) return;
      clearTimeout(late);
      resolve(found.map(([, host]) => `ws://${host}`));
    };
    cluster.stdout.on("data", read);
    cluster.stderr.on("data", read);
    cluster.on("error", (error) => failed(`cannot be run: ${error.message}`));
    cluster.on("exit", (code) => failed(`ended with ${code}`));
  });
}
