/** Removes the oldest entries of a map until at most `limit` are left. */
export function forgetOldest(map: Map<string, unknown>, limit: number): void {
  for (const oldest of map.keys()) {
    if (map.size <= limit) return;
    map.delete(oldest);
  }
}
