import type { RoomError } from "./api.js";

type ErrorInfo = Pick<RoomError, "code" | "fault" | "message">;

/**
 * An error that a function of this package throws. `code` is a short name for programs, `fault`
 * says who must change something, and `message` says what is wrong and what to do.
 */
export class GroupwireError extends Error {
  override readonly name = "GroupwireError";

  constructor(
    readonly code: string,
    readonly fault: RoomError["fault"],
    message: string,
    options?: { readonly cause: unknown },
  ) {
    super(message, options);
  }
}

/** Makes an error that says who must change something, as the errors of the core do. */
export function failure(code: string, fault: RoomError["fault"], message: string): GroupwireError {
  return new GroupwireError(code, fault, message);
}

/**
 * The error for an argument that the application must change. `argument` names it as the
 * application wrote it, such as "`room` of `connect`", and `expected` says what is right.
 */
export function invalid(argument: string, expected: string, got: unknown): GroupwireError {
  return failure("invalid-argument", "own", `${argument} must be ${expected}, not ${shown(got)}`);
}

/**
 * Code, fault and message of anything that was thrown by the core, this package, the browser or the
 * application.
 */
export function errorInfo(thrown: unknown): ErrorInfo {
  const isObject = typeof thrown === "object" && thrown !== null;
  const { code, fault, message } = (isObject ? thrown : { message: thrown }) as Partial<ErrorInfo>;
  const said = typeof message === "string" ? message : shown(thrown);
  if (typeof code === "string" && typeof fault === "string") return { code, fault, message: said };
  // Not by its class: there is none where a browser has WebAssembly switched off.
  const isTrap = (thrown as Error | undefined)?.name === "RuntimeError";
  return { code: "internal", fault: "own", message: isTrap ? `the core has failed: connect again (${said})` : said };
}

/** What was thrown, as an error of this package. */
export function asGroupwireError(thrown: unknown): GroupwireError {
  if (thrown instanceof GroupwireError) return thrown;
  const { code, fault, message } = errorInfo(thrown);
  return new GroupwireError(code, fault, message, { cause: thrown });
}

/** The longest text of a value that an error repeats, in characters. */
const LONGEST_SHOWN = 40;

/**
 * A value in a few words, for an error. It never calls code of the application, such as `toString`.
 */
export function shown(value: unknown): string {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value.length > LONGEST_SHOWN ? `${value.slice(0, LONGEST_SHOWN)}…` : value);
    case "bigint":
      return `${value}n`;
    case "function":
    case "symbol":
      return `a ${typeof value}`;
    case "object":
      if (value === null) return "null";
      return Array.isArray(value) ? "an array" : "an object";
    default:
      return String(value);
  }
}
