import type { RoomError } from "./api.js";

type ErrorInfo = Pick<RoomError, "code" | "fault" | "message">;

/** Makes an `Error` that says who must change something, as the errors of the core do. */
export function failure(code: string, fault: RoomError["fault"], message: string): Error & ErrorInfo {
  return Object.assign(new Error(message), { code, fault });
}

/** Code, fault and message of anything that was thrown by the core, this package or the browser. */
export function errorInfo(thrown: unknown): ErrorInfo {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const { code, fault } = (typeof thrown === "object" && thrown !== null ? thrown : {}) as Partial<ErrorInfo>;
  return typeof code === "string" && fault ? { code, fault, message } : { code: "internal", fault: "own", message };
}
