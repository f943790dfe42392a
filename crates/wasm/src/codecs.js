// The codecs that the core lacks, once the page has loaded them: by their numbers, instances of `Codecs` of
// crates/wasm-codecs or crates/wasm-brotli.

const loaded = [];

export function install(codecs, numbers) {
  for (const number of numbers) loaded[number] = codecs;
}

/** Undefined: it cannot be done. */
export function compress(codec, level, message) {
  try {
    return loaded[codec].compress(codec, level, message);
  } catch {
    return undefined;
  }
}

/** Undefined: `packed` is not what the codec makes of at most `limit` octets. */
export function decompress(codec, packed, limit) {
  try {
    return loaded[codec].decompress(codec, packed, limit);
  } catch {
    return undefined;
  }
}
