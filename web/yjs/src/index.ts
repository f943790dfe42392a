/**
 * A provider that synchronises Yjs documents and awareness over a Groupwire room.
 *
 * @packageDocumentation
 */

export { GroupwireProvider, type ProviderEvents, type ProviderOptions } from "./provider.js";
