/**
 * The compression settings of a channel, and the modules (crates/wasm-codecs) with the codecs that
 * the core lacks.
 */

import type { ChannelTraffic, Compress, Stats } from "./api.js";
import type { CoreStats, CoreTraffic, LoadedCore } from "./core.js";
import { failure, errorInfo } from "./errors.js";
import { requestModule, type ModuleSource } from "./locate.js";

/** A compression setting as the core takes it (crates/wasm/src/compress.rs). */
export interface Compression {
  /** 0 template, 1 off, 2 auto, 3 by a codec. */
  readonly kind: 0 | 1 | 2 | 3;
  readonly codec: number;
  readonly level: number | undefined;
  readonly filter: number;
}

/** The codecs, indexed by their numbers on the wire. */
export const CODECS = [
  "none",
  "lz4",
  "zlib",
  "snappy",
  "lzo",
  "lzf",
  "lzw",
  "zstd",
  "brotli",
  "bzip2",
  "lzma",
  "rle",
  "null",
] as const;
const FILTERS = ["", "delta1+", "delta2+", "delta4+", "delta8+"];

export const OFF = plain(1);
const BUILT_IN: Readonly<Record<string, Compression>> = {
  template: plain(0),
  off: OFF,
  none: OFF,
  auto: plain(2),
  lz4: { ...plain(3), codec: 1 },
};

function plain(kind: Compression["kind"]): Compression {
  return { kind, codec: 0, level: undefined, filter: 0 };
}

/** The setting of a name that the core supports without a further module. */
export function builtIn(name: Compress): Compression | undefined {
  return Object.hasOwn(BUILT_IN, name) ? BUILT_IN[name] : undefined;
}

/** The modules with the codecs that the core lacks. */
export type CodecModule = "codecs" | "brotli";

/**
 * The module that a setting needs. `auto` needs `codecs`, because it chooses only among the codecs
 * that are loaded.
 */
export function moduleFor(name: Compress): CodecModule | undefined {
  if (name !== "auto" && builtIn(name)) return undefined;
  return /^([^+]*\+)?brotli(-|$)/.test(name) ? "brotli" : "codecs";
}

/** A loaded module with codecs. */
export interface Codecs {
  /** Parses the name of a setting. Throws an `Error` that lists the valid names. */
  read(name: Compress): Compression;
}

const loading: Partial<Record<CodecModule, Promise<Codecs>>> = {};

/**
 * Loads a module with codecs once and installs it in the core. After a failure the next call tries
 * again.
 */
export function loadCodecs(part: CodecModule, source: ModuleSource, core: Promise<LoadedCore>): Promise<Codecs> {
  return (loading[part] ??= load(part, source, core).catch((error: unknown) => {
    delete loading[part];
    const hint = `is it on the server, and does the page's policy allow it? Outside of a browser pass its bytes as \`options.${part}\``;
    throw failure(
      "no-codecs",
      "own",
      `the module with the codecs could not be loaded (${errorInfo(error).message}): ${hint}`,
    );
  }));
}

async function load(part: CodecModule, source: ModuleSource, core: Promise<LoadedCore>): Promise<Codecs> {
  const [[glue, module]] = await Promise.all([
    part === "brotli" ? brotli(source) : codecs(source),
    // The core reaches other modules by its second part.
    core.then((loaded) => loaded.complete()),
  ]);
  await glue.default({ module_or_path: module });
  const { installCodecs } = await import("../wasm/groupwire_wasm.js");
  installCodecs(new glue.Codecs(), part === "brotli");
  return { read: (name) => read(glue.Named, name) };
}

function codecs(source: ModuleSource) {
  return Promise.all([import("../wasm/groupwire_wasm_codecs.js"), requestModule("codecs", source)]);
}

function brotli(source: ModuleSource) {
  return Promise.all([import("../wasm/groupwire_wasm_brotli.js"), requestModule("brotli", source)]);
}

interface Named {
  readonly codec: number;
  readonly level?: number | undefined;
  readonly filter: number;
  free(): void;
}

function read(Named: new (name: string) => Named, name: string): Compression {
  try {
    const named = new Named(name);
    const { codec, level, filter } = named;
    named.free();
    return { kind: 3, codec, level, filter };
  } catch (error) {
    throw failure("invalid-compress", "own", `${errorInfo(error).message}; or "template", "off", "auto"`);
  }
}

/** The core's counts with channel names instead of channel numbers. */
export function namedStats(
  { channels, ...totals }: CoreStats,
  names: readonly (readonly [number, string])[],
): Omit<Stats, "transport" | "plain"> {
  const of = (id: number) => channels[id];
  const found = names.flatMap(([id, name]) => {
    const counted = of(id);
    return counted ? [[name, { sent: traffic(counted.sent), received: traffic(counted.received) }] as const] : [];
  });
  return { ...totals, channels: new Map(found) };
}

function traffic({ codec, filter, ...counts }: CoreTraffic): ChannelTraffic {
  return {
    ...counts,
    codec: codec === undefined ? undefined : `${FILTERS[filter ?? 0] ?? ""}${CODECS[codec] ?? codec}`,
  };
}
