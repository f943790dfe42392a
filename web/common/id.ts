/**
 * A random id: for a window, which outlives its sessions, or for an object that is created in it.
 */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return Array.from(bytes, (byte) => (byte % 36).toString(36)).join("");
}
