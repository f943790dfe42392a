import type { RoomError } from "./api.js";

type Judged = Pick<RoomError, "code" | "fault" | "message">;

/** An `Error` that says who has to change something, as those of the core do. */
export function failure(code: string, fault: RoomError["fault"], message: string): Error & Judged {
  return Object.assign(new Error(message), { code, fault });
}

/** What can be said of something that was thrown: by the core, by this package, by the browser. */
export function judged(thrown: unknown): Judged {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const { code, fault } = (typeof thrown === "object" && thrown !== null ? thrown : {}) as Partial<Judged>;
  return typeof code === "string" && fault ? { code, fault, message } : { code: "internal", fault: "own", message };
}
