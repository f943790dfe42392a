/** Starts servers for the tests of a file, and a proxy in front of each person's connection. */

import { afterAll, afterEach } from "vitest";
import { Wire } from "./wire";

export interface Running {
  /** The address of the server, `http://127.0.0.1:PORT`. */
  readonly url: string;
  close(): Promise<void>;
}

const wires: Wire[] = [];
const leaving: (() => void)[] = [];
const servers: Running[] = [];

/** A proxy before a server, closed after the test. */
export async function wireTo({ url }: Running): Promise<Wire> {
  const wire = await Wire.to(url);
  wires.push(wire);
  return wire;
}

/** Closes a server after the tests of the file. */
export function stopsAtEnd<Server extends Running>(server: Server): Server {
  servers.push(server);
  return server;
}

/** Lets a participant leave after the test. */
export function leavesAtEnd<Person extends { leave(): unknown }>(person: Person): Person {
  leaving.push(() => person.leave());
  return person;
}

afterEach(() => {
  for (const leave of leaving.splice(0)) leave();
  for (const wire of wires.splice(0)) wire.close();
});
afterAll(async () => {
  for (const server of servers.splice(0)) await server.close();
});
