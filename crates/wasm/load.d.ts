
/**
 * Instantiates the module, or its first part.
 */
export function load(module: Response | BufferSource | WebAssembly.Module): Promise<void>;

/**
 * Instantiates the second part of the module. The first part must have been loaded before.
 */
export function loadSecond(module: Response | BufferSource | WebAssembly.Module): Promise<void>;
