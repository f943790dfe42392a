/** As module.d.ts, for `require`. */

declare const module: string | WebAssembly.Module;
export = module;
