/** What a server says that it offers: `GET /transports` (T4). */

import { door } from "../address.js";

/** How WebTransport is reached. */
export interface Offer {
  readonly port: number;
  /** SHA-256 of certificates that the server made itself; none: they are signed as usual. */
  readonly hashes: readonly Uint8Array<ArrayBuffer>[];
}

/**
 * Undefined: the server offers no WebTransport. Asked anew each time: a server that was restarted has another
 * certificate.
 */
export async function offerOf(server: URL, signal: AbortSignal): Promise<Offer | undefined> {
  const answer = await fetch(door(server, "transports"), { signal, cache: "no-store" });
  return answer.ok ? readOffer(await answer.json()) : undefined;
}

/** What stands in the answer, as far as it is one. */
export function readOffer(answer: unknown): Offer | undefined {
  const { webtransport } = (answer ?? {}) as { webtransport?: { port?: unknown; hashes?: unknown } | null };
  const { port, hashes = [] } = webtransport ?? {};
  if (!Number.isInteger(port) || !Array.isArray(hashes)) return undefined;
  return { port: port as number, hashes: hashes.flatMap(readHash) };
}

function readHash(hash: unknown): Uint8Array<ArrayBuffer>[] {
  if (typeof hash !== "string" || !/^[0-9a-f]{64}$/i.test(hash)) return [];
  return [Uint8Array.from(hash.match(/../g) ?? [], (octet) => Number.parseInt(octet, 16))];
}
