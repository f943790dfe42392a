/**
 * The type of the files `groupwire/modules/core`, `groupwire/modules/codecs` and others in that
 * folder.
 */

/**
 * What a bundler makes of an import of a WebAssembly file: its address, or the compiled module.
 * Pass it to `connect` as the option `wasm` (the core), `codecs` or `brotli`.
 */
declare const module: string | WebAssembly.Module;
export default module;
