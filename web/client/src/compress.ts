/** How the messages of a channel become small, and the module (crates/wasm-codecs) with the codecs that the core lacks. */

import type { ChannelTraffic, Codec, Compress, ConnectOptions, Stats } from "./api.js";
import type { CoreConstructor, CoreStats, CoreTraffic } from "./core.js";
import { failure, judged } from "./errors.js";

/** As the core takes it: crates/wasm/src/compress.rs. */
export interface How {
  /** 0 template, 1 off, 2 auto, 3 by a codec. */
  readonly kind: 0 | 1 | 2 | 3;
  readonly codec: number;
  readonly level: number | undefined;
  readonly filter: number;
}

/** By their numbers on the wire. */
export const CODECS: readonly Codec[] = [
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
];
const FILTERS = ["", "delta1+", "delta2+", "delta4+", "delta8+"];

export const OFF = plain(1);
const OWN: Readonly<Record<string, How>> = {
  template: plain(0),
  off: OFF,
  none: OFF,
  auto: plain(2),
  lz4: { ...plain(3), codec: 1 },
};

function plain(kind: How["kind"]): How {
  return { kind, codec: 0, level: undefined, filter: 0 };
}

/** What the core can do by itself. */
export function ownHow(name: Compress): How | undefined {
  return Object.hasOwn(OWN, name) ? OWN[name] : undefined;
}

/** The modules with the codecs that the core lacks. */
export type Part = "codecs" | "brotli";

/** The module that it takes, at least to be any good: `auto` chooses among the codecs that are there. */
export function partFor(name: Compress): Part | undefined {
  if (name !== "auto" && ownHow(name)) return undefined;
  return /^([^+]*\+)?brotli(-|$)/.test(name) ? "brotli" : "codecs";
}

/** A module, loaded. */
export interface Codecs {
  /** What a name asks for. Throws an `Error` that says what there is. */
  read(name: Compress): How;
}

type Source = ConnectOptions["codecs"];

const loading: Partial<Record<Part, Promise<Codecs>>> = {};

/** Loads a module with codecs, once, and gives them to the core. After a failure the next call tries again. */
export function loadCodecs(part: Part, source: Source, core: Promise<CoreConstructor>): Promise<Codecs> {
  return (loading[part] ??= load(part, source, core).catch((error: unknown) => {
    delete loading[part];
    const hint = `is it on the server, and does the page's policy allow it? Outside of a browser pass its bytes as \`options.${part}\``;
    throw failure(
      "no-codecs",
      "own",
      `the module with the codecs could not be loaded (${judged(error).message}): ${hint}`,
    );
  }));
}

async function load(part: Part, source: Source, core: Promise<CoreConstructor>): Promise<Codecs> {
  const [[glue, module]] = await Promise.all([part === "brotli" ? brotli(source) : codecs(source), core]);
  await glue.default({ module_or_path: module });
  const { installCodecs } = await import("../wasm/groupwire_wasm.js");
  installCodecs(new glue.Codecs(), part === "brotli");
  return { read: (name) => read(glue.Named, name) };
}

// As in core.ts: bundlers want to see each address.

function codecs(source: Source) {
  const from = source ?? new URL("../wasm/groupwire_wasm_codecs_bg.wasm", import.meta.url);
  return Promise.all([import("../wasm/groupwire_wasm_codecs.js"), got(from)]);
}

function brotli(source: Source) {
  const from = source ?? new URL("../wasm/groupwire_wasm_brotli_bg.wasm", import.meta.url);
  return Promise.all([import("../wasm/groupwire_wasm_brotli.js"), got(from)]);
}

function got(from: NonNullable<Source>): Promise<Response> | BufferSource | WebAssembly.Module {
  return typeof from === "string" || from instanceof URL ? fetch(from) : from;
}

interface Named {
  readonly codec: number;
  readonly level?: number | undefined;
  readonly filter: number;
  free(): void;
}

function read(Named: new (name: string) => Named, name: string): How {
  try {
    const named = new Named(name);
    const { codec, level, filter } = named;
    named.free();
    return { kind: 3, codec, level, filter };
  } catch (error) {
    throw failure("invalid-compress", "own", `${judged(error).message}; or "template", "off", "auto"`);
  }
}

/** What the core counted, by the names of the channels. */
export function named(
  { channels, ...totals }: CoreStats,
  names: readonly (readonly [number, string])[],
): Omit<Stats, "transport"> {
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
