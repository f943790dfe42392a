/**
 * Rooms with types: presence, messages and shared data have schemas of zod, valibot, arktype or
 * another library with Standard Schema, and are checked on arrival.
 *
 * @packageDocumentation
 */

export type { Invalid, Versions } from "./schema/check.js";
export type * from "./schema/define.js";
export type { InputOf, OutputOf, SchemaIssue, SchemaResult, StandardSchema } from "./schema/standard.js";
export { defineRoom } from "./schema/define.js";
