/** The type of the files `groupwire/wasm`, `groupwire/codecs` and `groupwire/brotli`. */

/**
 * What a bundler makes of an import of a WebAssembly file: its address, or the compiled module. Pass it to `connect` as
 * the option of the same name.
 */
declare const module: string | WebAssembly.Module;
export default module;
