/** Forgets what was put in first until no more than `limit` are left. */
export function forgetOldest(map: Map<string, unknown>, limit: number): void {
  for (const oldest of map.keys()) {
    if (map.size <= limit) return;
    map.delete(oldest);
  }
}
