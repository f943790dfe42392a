/** A server of Groupwire: the program that the variable GROUPWIRE_BINARY names. */

import { Server } from "../../../web/e2e/server.mjs";
import type { Running } from "./servers";

export async function startGroupwire(...options: string[]): Promise<Running> {
  const server = await Server.start(...options);
  return { url: server.url, close: () => server.kill() };
}
