/** The secret of a seat, from which its proofs and locks are made. */

import type { Seat } from "./game";
import { sha256 } from "./sha256";

/** The part of `Storage` that is used. */
export interface Memory {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
}

/** The proof with this number. It tells nothing of the others. */
export function proofOf(secret: string, number: number): string {
  return sha256(`${secret}.${number}`);
}

export function lockOf(secret: string, number: number): string {
  return sha256(proofOf(secret, number));
}

/** Whether a seat was taken with this secret. */
export function isOwn(secret: string, seat: Seat | null): boolean {
  return secret !== "" && seat !== null && lockOf(secret, seat.shown) === seat.lock;
}

/** A secret that nobody can guess. */
export function newSecret(): string {
  return [...crypto.getRandomValues(new Uint32Array(4))].map((word) => word.toString(36)).join(".");
}
