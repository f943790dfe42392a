/** What a server offers, as it answers `GET /transports` (T4). */

import { door } from "../door.js";

/** The address of a server's WebTransport, and the hashes of its certificates. */
export interface Offer {
  readonly port: number;
  /**
   * SHA-256 hashes of the server's self-signed certificates; empty if its certificates are signed
   * by an authority.
   */
  readonly hashes: readonly Uint8Array<ArrayBuffer>[];
}

/**
 * Asks the server for its WebTransport offer; undefined if it has none. Asked before each attempt,
 * because a restarted server has a new certificate.
 */
export async function offerOf(server: URL, signal: AbortSignal): Promise<Offer | undefined> {
  const answer = await fetch(door(server, "transports"), { signal, cache: "no-store" });
  return answer.ok ? readOffer(await answer.json()) : undefined;
}

/** Parses the answer; undefined if it contains no valid offer. */
export function readOffer(answer: unknown): Offer | undefined {
  const { webtransport } = (answer ?? {}) as { webtransport?: { port?: unknown; hashes?: unknown } | null };
  const { port, hashes = [] } = webtransport ?? {};
  if (!Number.isInteger(port) || !Array.isArray(hashes)) return undefined;
  return { port: port as number, hashes: hashes.flatMap(readHash) };
}

function readHash(hash: unknown): Uint8Array<ArrayBuffer>[] {
  if (typeof hash !== "string" || !/^[0-9a-f]{64}$/i.test(hash)) return [];
  return [Uint8Array.from(hash.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))];
}
