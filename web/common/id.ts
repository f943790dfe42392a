/** Random, so that it is nobody else's: of a window, which outlives its sessions, or of a thing made in it. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return Array.from(bytes, (byte) => (byte % 36).toString(36)).join("");
}
