// The codecs that the page has loaded from other modules: loaded[number] is the instance of the class `Codecs`, of
// crates/wasm-codecs or crates/wasm-brotli, that has the codec with this number.

const loaded = [];

export function install(codecs, numbers) {
  for (const number of numbers) loaded[number] = codecs;
}

/** Returns the compressed message, or undefined if the codec is not loaded or fails. */
export function compress(codec, level, message) {
  try {
    return loaded[codec].compress(codec, level, message);
  } catch {
    return undefined;
  }
}

/**
 * Returns the decompressed message, or undefined if the codec is not loaded, `packed` is malformed, or the message is
 * longer than `limit` bytes.
 */
export function decompress(codec, packed, limit) {
  try {
    return loaded[codec].decompress(codec, packed, limit);
  } catch {
    return undefined;
  }
}
