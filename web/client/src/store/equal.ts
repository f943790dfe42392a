/** The default comparison of selected values. */

/**
 * True for the same value, and for arrays, plain objects, maps and sets whose parts are the same
 * values.
 */
export function shallow(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  const kind = Object.getPrototypeOf(a) as unknown;
  if (kind !== Object.getPrototypeOf(b)) return false;
  if (a instanceof Map) return sameParts([...a].flat(1), [...(b as Map<unknown, unknown>)].flat(1));
  if (a instanceof Set) return sameParts([...a], [...(b as Set<unknown>)]);
  if (Array.isArray(a)) return sameParts(a, b as unknown[]);
  if (kind !== Object.prototype && kind !== null) return false;
  const keys = Object.keys(a);
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>];
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(right, key) && Object.is(left[key], right[key]))
  );
}

function sameParts(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((part, at) => Object.is(part, b[at]));
}
