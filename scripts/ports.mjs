// Ports for programs that cannot choose one themselves: they do not print the port that they take
// for 0, or others must know it before they start.
//
// A port that the system gives for 0 may be given to another program before the one that it is for
// listens on it. These come from a range that systems give nobody, and each process begins
// elsewhere. `lab/ports` is the same for Rust.

import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer } from "node:net";

const FIRST = 12_000;
const COUNT = 20_000;
/**
 * How far the first ports of two processes with successive numbers lie apart. Those of any 300
 * successive processes lie at least 66 apart.
 */
const STEP = 9701;

let calls = 0;

/** A port on which no program of this machine listens. Each call of a process gives another one. */
export async function freePort() {
  let cause;
  for (let tried = 0; tried < COUNT; tried += 1) {
    const port = FIRST + ((process.pid * STEP + calls++) % COUNT);
    try {
      await listenAndClose(createServer().listen(port));
      await listenAndClose(createSocket("udp4").bind(port));
      return port;
    } catch (error) {
      cause = error;
    }
  }
  throw new Error(`no port from ${FIRST} to ${FIRST + COUNT - 1} is free`, { cause });
}

/** Different ports on which no program listens. */
export async function freePorts(count) {
  const ports = [];
  while (ports.length < count) ports.push(await freePort());
  return ports;
}

async function listenAndClose(socket) {
  await once(socket, "listening");
  socket.close();
  await once(socket, "close");
}
