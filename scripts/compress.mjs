// Compresses files at build time: by brotli, and to gzip by Zopfli, which makes files 4 % smaller
// than `gzip -9`. Both take seconds for a large file, so results are kept in .cache/compressed, by
// the hash of what was compressed.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const CACHE = fileURLToPath(new URL("../.cache/compressed/", import.meta.url));
/** It is built by scripts/wasm.sh. */
const TOOL = fileURLToPath(new URL("../.cache/tools/bindgen/debug/groupwire-bindgen", import.meta.url));

/**
 * Larger files are compressed by the ordinary gzip only, to gzip: they are loaded rarely, and take
 * too long.
 */
const LARGEST = 512 << 10;

/** The content of a file in gzip's format. */
export function gzip(bytes) {
  if (bytes.length > LARGEST || !existsSync(TOOL)) return gzipSync(bytes, { level: 9 });
  return cached(bytes, "gz", (path) => {
    const [from, to] = [`${path}.from`, `${path}.to`];
    writeFileSync(from, bytes);
    execFileSync(TOOL, ["gzip", from, to]);
    const made = readFileSync(to);
    [from, to].forEach((file) => rmSync(file));
    return made;
  });
}

/** The content of a file in brotli's format; undefined for a large file. */
export function brotli(bytes) {
  if (bytes.length > LARGEST) return undefined;
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
    [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  };
  return cached(bytes, "br", () => brotliCompressSync(bytes, { params }));
}

function cached(bytes, kind, make) {
  const path = `${CACHE}${createHash("sha256").update(bytes).digest("hex")}.${kind}`;
  if (!existsSync(path)) {
    mkdirSync(CACHE, { recursive: true });
    // Other builds may run at the same time.
    const own = `${path}.${process.pid}`;
    writeFileSync(own, make(own));
    renameSync(own, path);
  }
  return readFileSync(path);
}
