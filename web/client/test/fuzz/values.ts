/** Any values, and values that are nearly right, for the arguments of public functions. */

import fc from "fast-check";

/** What the application's own functions throw: it reaches the application unchanged. */
export class Mine extends Error {
  override readonly name = "Mine";
}
export const mine = new Mine("thrown by the application");

class Point {
  constructor(readonly x = 1) {}
}
class Hidden {
  readonly #word = 1;
  get word(): number {
    return this.#word;
  }
}

const around: unknown[] = [];
around.push({ around });

const throws = (): never => {
  throw mine;
};

/**
 * Functions of an application, which may return anything, also a promise, and may throw. None
 * returns a promise that nobody handles.
 */
const functions: readonly unknown[] = [
  () => undefined,
  () => null,
  () => 5,
  () => "text",
  () => "a\ud800",
  () => new Uint8Array(3),
  () => ({ issues: 1 }),
  () => Promise.resolve("text"),
  (value: unknown) => value,
  throws,
];

/** Values that JavaScript programs pass by mistake, and values at the edges of what is right. */
const odd: readonly unknown[] = [
  undefined,
  null,
  "",
  0,
  -0,
  1,
  -1,
  0.5,
  255,
  256,
  2 ** 31,
  2 ** 32 - 1,
  2 ** 32,
  2 ** 53,
  1e308,
  Number.NaN,
  Infinity,
  -Infinity,
  5e-324,
  0n,
  -1n,
  2n ** 64n,
  true,
  false,
  "__proto__",
  "constructor",
  "toString",
  "a/b",
  "\0",
  "\ud800",
  "\udc00\ud800",
  "\u{1F600}",
  "\ufeff",
  "x".repeat(300),
  "ä".repeat(70_000),
  Symbol("x"),
  Symbol.iterator,
  {},
  [],
  Object.create(null),
  Object.create({ inherited: throws }),
  Object.freeze({ kind: "awareness" }),
  { toJSON: throws },
  { toJSON: () => undefined },
  { toJSON: 5 },
  { length: 1e9 },
  { then: 5 },
  { name: 5 },
  { name: "chat" },
  { "~standard": { version: 1, vendor: "x", validate: throws } },
  { "~standard": { version: 1, vendor: "x", validate: () => ({ issues: [null] }) } },
  around,
  [, 1],
  new Array(3),
  new Date(0),
  new Date(Number.NaN),
  new Map([[1, 2]]),
  new Set(["chat"]),
  new WeakMap(),
  new Error("x"),
  /x/,
  new Point(),
  new Hidden(),
  new URL("http://host/"),
  new Uint8Array(0),
  new Uint8Array(70_000),
  new Float64Array([Number.NaN]),
  new DataView(new ArrayBuffer(8), 2, 3),
  new ArrayBuffer(5),
  new SharedArrayBuffer(4),
  new String("x"),
  new Number(5),
  Promise.resolve(1),
  new Proxy({}, {}),
  globalThis,
  Math,
];

/**
 * Any value. Objects of fast-check have no getters that throw: an exception of the application's
 * own code is its own.
 */
export const any: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...odd) },
  { weight: 2, arbitrary: fc.constantFrom(...functions) },
  {
    weight: 3,
    arbitrary: fc.anything({
      maxDepth: 3,
      maxKeys: 4,
      withBigInt: true,
      withBoxedValues: true,
      withDate: true,
      withMap: true,
      withNullPrototype: true,
      withObjectString: true,
      withSet: true,
      withSparseArray: true,
      withTypedArray: true,
      withUnicodeString: true,
    }),
  },
);

/** Mostly a value of this kind, sometimes another. */
export function mostly<T>(right: fc.Arbitrary<T>): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 6, arbitrary: right }, { weight: 1, arbitrary: any });
}

/**
 * Options of which each may be there. In every other case one of them is wrong, or does not exist.
 */
export function options(of: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<unknown> {
  const names = Object.keys(of);
  const right = fc.record({ ...of }, { requiredKeys: [] });
  const slip = fc.constantFrom(...names, ...names, names[0]?.toUpperCase() ?? "");
  const wrong = fc.oneof(
    fc.constant({}),
    fc.tuple(slip, any).map(([name, value]) => ({ [name]: value })),
  );
  return mostly(fc.tuple(right, wrong).map(([all, one]) => ({ ...all, ...one })));
}

export const name = fc.constantFrom("chat", "pointer", "draw", "other", "shared", "board", "chat ");
export const callback = fc.constantFrom(...(functions as (() => unknown)[]));
export const whole = fc.constantFrom(0, 1, 2, 3, 7, 100, 255);
export const number = fc.oneof(whole, fc.double({ min: 0, max: 1 }), fc.double());
/** Simulated milliseconds that pass soon. */
export const soon = fc.nat(3000);
export const flag = fc.boolean();
export const place = fc.array(fc.double({ min: -1e4, max: 1e4, noNaN: true }), { minLength: 1, maxLength: 3 });
export const payload = fc.oneof(
  fc.string(),
  fc.json(),
  fc.jsonValue(),
  fc.uint8Array(),
  fc.record({ x: fc.double(), y: fc.integer(), text: fc.string() }),
);
export const transports = fc.subarray(["webtransport", "websocket", "poll"]);
export const compress = fc.constantFrom("template", "off", "auto", "lz4", "zstd", "zstd-99", "brotli", "zip");
export const key = fc.constantFrom("a", "b", "left", "ä");

const qos = {
  loss: fc.double({ min: 0, max: 1 }),
  deadline: fc.integer({ min: 1, max: 5000 }),
  minRate: fc.constantFrom(0, 1, 5),
  maxRate: fc.constantFrom(0, 5, 25, 1000),
  priority: whole,
};
export const change = options(qos);
const { loss: _, ...others } = qos;
const forBoth = { ...others, private: flag, compress };
export const channelOptions = fc.oneof(
  fc.constantFrom({ kind: "transaction" }, { kind: "awareness" }),
  options({ ...qos, ...forBoth, kind: fc.constant("awareness"), overflow: fc.constantFrom("conflate", "aggregate") }),
  options({ ...forBoth, kind: fc.constant("transaction"), departures: flag }),
);
export const presence = fc.oneof(fc.record({ name: fc.string() }), fc.jsonValue());
export const token = fc.oneof(
  fc.string(),
  callback,
  fc.constant(async () => {
    await Promise.resolve();
    throw mine;
  }),
);
