/** Instantiates the module, or its first part. */
export async function load(module) {
    __wbg_finalize_init(await instantiate(module, __wbg_get_imports()));
}

/** Instantiates the second part of the module, whose functions the first part calls through its function table. */
export async function loadSecond(module) {
    await instantiate(module, { ...__wbg_get_imports(), first: wasm });
}

async function instantiate(module, imports) {
    // A response of `fetch`. Some test environments have no class `Response`.
    if (module.headers) {
        if (!module.ok) throw new Error(`${module.url}: ${module.status} ${module.statusText}`);
        if (module.headers.get("content-type") === "application/wasm") {
            return (await WebAssembly.instantiateStreaming(module, imports)).instance;
        }
        // Of another type it cannot be compiled while it arrives.
        module = await module.arrayBuffer();
    }
    const made = await WebAssembly.instantiate(module, imports);
    // Without a second object if `module` was compiled before.
    return made.instance ?? made;
}
