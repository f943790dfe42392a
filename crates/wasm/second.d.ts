
/**
 * Instantiates the second part of the module. The first part must have been initialized before.
 */
export function loadSecond(module: Response | BufferSource | WebAssembly.Module): Promise<void>;
