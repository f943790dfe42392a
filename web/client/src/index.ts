/**
 * Groupwire in the browser. Importing it does nothing yet: the core is loaded by the first
 * `connect`.
 *
 * @packageDocumentation
 */

export type * from "./api.js";
export { GroupwireError } from "./errors.js";
export { awareness, transaction } from "./qos.js";
export { connect } from "./room.js";
