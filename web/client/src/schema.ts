/**
 * Rooms with types: what participants say of themselves and send each other is described by schemas of zod, valibot, arktype
 * or any other library that has Standard Schema, and checked when it arrives.
 *
 * @packageDocumentation
 */

export type { Invalid, Versions } from "./schema/check.js";
export type * from "./schema/define.js";
export type { InputOf, OutputOf, SchemaIssue, SchemaResult, StandardSchema } from "./schema/standard.js";
export { defineRoom } from "./schema/define.js";
