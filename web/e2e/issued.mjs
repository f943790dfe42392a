// A certificate that Pebble issues to the server by ACME, and a browser that accepts it. `make
// test-acme` builds Pebble.

import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { acceptedBy, SelfSigned } from "./certificate.mjs";
import { freePorts } from "../../scripts/ports.mjs";

/** Longer than Pebble takes on a busy machine, as it waits before it asks. */
const PATIENCE_MS = 60_000;

const children = new Set();
process.on("exit", () => children.forEach((child) => child.kill("SIGKILL")));

/** Pebble, and the DNS server that it asks, which knows every name as 127.0.0.1. */
export class Issued {
  #folder = mkdtempSync(join(tmpdir(), "groupwire-issued-"));
  #own = new SelfSigned("DNS:localhost");
  #children = [];
  /** The port at which Pebble expects the server. */
  port;
  /** The options of the server. */
  options;

  /** Starts both programs in the folder that GROUPWIRE_PEBBLE names. */
  static async start() {
    const issued = new Issued();
    const [port, directory, management, dns, control] = await freePorts(5);
    const config = {
      listenAddress: `127.0.0.1:${directory}`,
      managementListenAddress: `127.0.0.1:${management}`,
      certificate: issued.#own.cert,
      privateKey: issued.#own.key,
      httpPort: 1,
      tlsPort: port,
    };
    const file = join(issued.#folder, "pebble.json");
    writeFileSync(file, JSON.stringify({ pebble: config }));
    const off = ["-http01", "", "-https01", "", "-tlsalpn01", "", "-doh", "", "-defaultIPv6", ""];
    issued.#spawn("pebble-challtestsrv", [
      ...off,
      "-dnsserver",
      `127.0.0.1:${dns}`,
      "-management",
      `127.0.0.1:${control}`,
    ]);
    issued.#spawn("pebble", ["-config", file, "-dnsserver", `127.0.0.1:${dns}`]);
    await Promise.all([directory, control].map(answering));
    issued.port = port;
    const asked = ["--acme-directory", `https://localhost:${directory}/dir`, "--trusted-root", issued.#own.cert];
    issued.options = ["--acme", "localhost", "--acme-folder", issued.#folder, ...asked];
    return issued;
  }

  /** The flags by which Chromium accepts the certificate, once it is issued. */
  async flags() {
    for (const start = performance.now(); performance.now() - start < PATIENCE_MS; await sleep(100)) {
      const names = readdirSync(this.#folder, { recursive: true });
      const name = names.find((name) => name.endsWith("certificate.pem"));
      // QUIC would ask ::1 alone, where the server does not listen.
      const address = "--host-resolver-rules=MAP localhost 127.0.0.1";
      if (name) return [address, ...acceptedBy(readFileSync(join(this.#folder, name)))];
    }
    throw new Error("Pebble issued no certificate");
  }

  remove() {
    for (const child of this.#children) child.kill("SIGKILL");
    this.#own.remove();
    rmSync(this.#folder, { recursive: true });
  }

  #spawn(program, options) {
    const env = { ...process.env, PEBBLE_VA_SLEEPTIME: "1" };
    const child = spawn(join(process.env.GROUPWIRE_PEBBLE, program), options, { env, stdio: "ignore" });
    children.add(child);
    this.#children.push(child);
  }
}

/** Resolves when a program listens at a port. */
async function answering(port) {
  for (const start = performance.now(); performance.now() - start < PATIENCE_MS; await sleep(50)) {
    const isOpen = await new Promise((resolve) => {
      const socket = connect(port, "127.0.0.1");
      socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
      socket.once("connect", () => socket.destroy());
    });
    if (isOpen) return;
  }
  throw new Error(`nothing listens at port ${port}`);
}
