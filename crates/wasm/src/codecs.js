// The codecs that the core lacks, once the page has loaded them: an instance of `Codecs` of crates/wasm-codecs.

let loaded;

export function install(codecs) {
  loaded = codecs;
}

/** Undefined: it cannot be done. */
export function compress(codec, level, message) {
  try {
    return loaded.compress(codec, level, message);
  } catch {
    return undefined;
  }
}

/** Undefined: `packed` is not what the codec makes of at most `limit` octets. */
export function decompress(codec, packed, limit) {
  try {
    return loaded.decompress(codec, packed, limit);
  } catch {
    return undefined;
  }
}
