/**
 * Excalidraw's rule for concurrent changes: the higher `version` of an element wins, and of equal
 * versions the lower `versionNonce`. The order of arrival does not matter, so everybody ends with
 * the same scene. Nothing here needs Excalidraw itself.
 */

import { z } from "zod";

/**
 * The fields that the rule and the order need. Excalidraw restores the other fields of received
 * elements.
 */
export const Element = z.looseObject({
  id: z.string().min(1).max(100),
  type: z.string(),
  version: z.int().nonnegative(),
  versionNonce: z.int(),
  isDeleted: z.boolean(),
  /** The place among the others, from back to front: texts that are compared. */
  index: z.string().max(1000).nullish(),
});
export type Element = z.infer<typeof Element>;
type Versioned = Pick<Element, "version" | "versionNonce">;

/**
 * All elements by their ids, including deleted ones: a late change must not restore a deleted
 * element.
 */
export type Scene = Readonly<Record<string, Element>>;

/** True if `one` replaces `other`. */
export function isNewer(one: Versioned, other: Versioned | undefined): boolean {
  if (!other || one.version !== other.version) return one.version > (other?.version ?? -1);
  return one.versionNonce < other.versionNonce;
}

/** The scene with a changed element: the reducer of the shared data. */
export function merge(scene: Scene, element: Element): Scene {
  const known = Object.hasOwn(scene, element.id) ? scene[element.id] : undefined;
  return isNewer(element, known) ? { ...scene, [element.id]: element } : scene;
}

/**
 * From back to front. Elements of equal or no index are in the order of their ids, so that
 * everybody has the same order.
 */
export function inOrder<E extends Pick<Element, "id" | "index">>(elements: Iterable<E>): E[] {
  const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
  return [...elements].sort((a, b) => compare(a.index ?? "~", b.index ?? "~") || compare(a.id, b.id));
}
