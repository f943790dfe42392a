/**
 * Checks values by a schema: received values, from any version of the application, and values that
 * this program sends.
 */

import { check, must } from "../arguments.js";
import { failure, shown } from "../errors.js";
import { checkJson } from "../json.js";
import type { SchemaIssue, StandardSchema } from "./standard.js";

/** The version of a schema, and how data of older versions is upgraded to it. */
export interface Versions {
  /**
   * The version of the schema, from 1. It grows when data of the version before does not fit the
   * schema. Default: 1.
   */
  readonly version?: number;
  /** Makes data of an older version fit the schema. Without it, older data is checked as it is. */
  readonly upgrade?: (data: unknown, version: number) => unknown;
}

/** Received data that does not fit its schema, and was dropped. */
export interface Invalid {
  /** The name of the data: `presence`, or the name of a channel or of shared data. */
  readonly where: string;
  /** The participant who sent it; undefined if that is not known any more. */
  readonly sender: number | undefined;
  /**
   * `schema`: the data does not fit. `newer`: it does not fit and comes from a newer version of the
   * application, so this page should be reloaded. `json`: it is not JSON. `own`: a schema or
   * `upgrade` of this program threw an exception, or is asynchronous.
   */
  readonly reason: "schema" | "newer" | "json" | "own";
  /** What is wrong, in a sentence. */
  readonly message: string;
  readonly data: unknown;
}

export type Checked<Output> =
  | { readonly value: Output; readonly fault?: undefined }
  | { readonly fault: Pick<Invalid, "reason" | "message" | "data"> };

export class Checker<Output = unknown> {
  readonly version: number;
  readonly #upgrade: Versions["upgrade"];

  /** `where` names the data in errors. Without a schema, everything fits. */
  constructor(
    readonly where: string,
    readonly schema: StandardSchema<unknown, Output> | undefined,
    { version = 1, upgrade }: Versions = {},
  ) {
    if (schema !== undefined) standardSchema(schema, `the schema of "${where}"`);
    versionNumber(version, `the version of "${where}"`);
    if (upgrade !== undefined) check(upgrade, "function", `\`upgrade\` of "${where}"`);
    this.version = version;
    this.#upgrade = upgrade;
  }

  /** Checks data that another participant sent, in its version. Does not throw. */
  read(data: unknown, version = 1): Checked<Output> {
    const fault = (reason: Invalid["reason"], message: string): Checked<Output> => ({
      fault: { reason, message, data },
    });
    try {
      const upgraded = version < this.version && this.#upgrade ? this.#upgrade(data, version) : data;
      const result = this.#validate(upgraded);
      if (!result.issues) return { value: result.value };
      // Data of a newer version that fits is taken: the new version may only have more fields.
      if (version <= this.version) return fault("schema", said(result.issues));
      return fault("newer", `version ${version} of the application sent it, and this is ${this.version}: load it anew`);
    } catch (error) {
      return fault("own", error instanceof Error ? String(error) : shown(error));
    }
  }

  /**
   * Checks data that this program is about to send. Throws if it does not fit, or if JSON cannot
   * carry it. `given` is what the application itself has given of it.
   */
  write(data: unknown, given = data): void {
    checkJson(given, `"${this.where}"`);
    const { issues } = this.#validate(data);
    if (issues) throw failure("invalid", "own", `"${this.where}" does not fit its schema: ${said(issues)}`);
  }

  #validate(
    data: unknown,
  ): { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly SchemaIssue[] } {
    if (!this.schema) return { value: data as Output };
    const result = this.schema["~standard"].validate(data);
    schemaResult(result, `the result of the schema of "${this.where}"`);
    if (!("then" in result)) return result;
    result.catch(() => {});
    const hint = "messages are checked as they arrive, so use no asynchronous checks and transformations";
    throw failure("async-schema", "own", `the schema of "${this.where}" is asynchronous: ${hint}`);
  }
}

const versionNumber = must("a whole number from 1", (value) => Number.isSafeInteger(value) && (value as number) > 0);

const standardSchema = must("a schema with Standard Schema", (value) => {
  const { "~standard": standard } = (value ?? {}) as Partial<StandardSchema>;
  return typeof standard?.validate === "function";
});

const schemaResult = must("an object with a value or issues", (value) => {
  if (typeof value !== "object" || value === null) return false;
  const { issues } = value as { readonly issues?: unknown };
  return issues === undefined || Array.isArray(issues);
});

/** Marks JSON with the version of its schema, if that is not 1: `{"~2": data}`. */
export function mark(data: unknown, version: number): unknown {
  return version === 1 ? data : { [`~${version}`]: data };
}

/** The data and its version, as {@link mark} has made it. */
export function unmark(json: unknown): readonly [data: unknown, version: number] {
  if (typeof json !== "object" || json === null) return [json, 1];
  const [key = "", ...more] = Object.keys(json);
  const version = more.length === 0 && /^~[1-9]\d{0,8}$/.test(key) ? Number(key.slice(1)) : 1;
  return version === 1 ? [json, 1] : [(json as Record<string, unknown>)[key], version];
}

function said([issue]: readonly SchemaIssue[]): string {
  const path = issue?.path?.map((part) => String(typeof part === "object" ? part.key : part)) ?? [];
  return [path.join("."), issue?.message].filter(Boolean).join(": ");
}
