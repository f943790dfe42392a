
/** Instantiates the second part of the module, whose functions the first part calls through its function table. */
export async function loadSecond(module) {
    const imports = __wbg_get_imports();
    imports.first = wasm;
    await __wbg_load(module, imports);
}
