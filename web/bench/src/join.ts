import type { Room } from "groupwire";

/** Resolves when the room is synced. Rejects after a fatal error, or after `limit` milliseconds. */
export function synced(room: Room, limit: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`not joined within ${limit} ms`)), limit);
    room.on("error", ({ message, fatal }) => fatal && reject(new Error(message)));
    room.on("synced", () => {
      clearTimeout(late);
      resolve();
    });
  });
}
