/**
 * A server's answer to a client that it cannot take in now: `BYE` in the place of `WELCOME` (wire
 * W36).
 */

const VERSION = 1;
const BYE = 0x11;
/** The bits of a frame's first byte that are its type. */
const TYPE = 0x3f;

/** Whether the first packet on a transport says that the client has to come back later. */
export function isGoodbye(packet: Uint8Array): boolean {
  const [version, tag] = packet;
  return version === VERSION && tag !== undefined && (tag & TYPE) === BYE;
}
