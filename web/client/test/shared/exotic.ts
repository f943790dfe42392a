/** Values, operations and states at the edges of JSON and of the format. */

type Below = (limit: number) => number;

export function one<Value>(of: readonly Value[], below: Below): Value {
  return of[below(of.length)] as Value;
}

/** A value that JSON carries as it is, of a few levels. */
export function exoticValue(below: Below, levels: number): unknown {
  const plain = [
    null, true, false, "", "text", "é🙂", '"\\/\b\f\n\r\t\u0000\u001f\u007f\u2028', 0, 1, -1, 0.1, 1e21, 123456789012345680000, 1e-7, 0.000001,
    1.5e300, 5e-324, 1.7976931348623157e308, 2 ** 53, -(2 ** 53), 1 / 3, below(1e9) / 1024, (below(1 << 30) / 7) * 10 ** (below(40) - 20),
  ]; // prettier-ignore
  if (levels === 0 || below(2) === 0) return one(plain, below);
  const parts = Array.from({ length: below(4) }, () => exoticValue(below, levels - 1));
  if (below(2) === 0) return parts;
  const names = [
    "b",
    "a",
    "10",
    "9",
    "01",
    "__proto__",
    "4294967294",
    "4294967295",
    "-1",
    "constructor",
    "🙂",
    "k",
    "v",
  ];
  return Object.fromEntries(parts.map((part) => [one(names, below), part]));
}

const NAMES = ["shapes", "notes", "texts", "score", "pen", "game", "ledger", "total", "__proto__", "unknown", ""];

/** JSON that is not read as it is written, or that programs must not keep. */
const RAW = [
  "1e400", "-1e400", "-0", "1E5", "1.0", '"\\ud83d"', '"\\ude42\\ud83d"', '"\\ud83d\\ude42"', '"\\u0061"', '{"a":1,"a":2}', '{"2":1,"1":2,"x":3}',
  '{"toString":1,"valueOf":1}', '{"length":1,"0":"h.1"}', '["h.1"]', "0", '"0"', "null", "[]", "{}", '{"k":"V"}', '{"k":5,"v":1}', '{"v":1,"k":"z"}',
]; // prettier-ignore

/** An operation of a program that keeps no rules. */
export function exoticOperation(author: string, last: number, ids: readonly string[], below: Below): string {
  const number = one(
    [last + 1, last + 1, last + 1, last, last + 2, 0, "1.0", "1e2", "9007199254740992", '"1"', "null"],
    below,
  );
  const name = JSON.stringify(one(NAMES, below));
  const keys = [
    "one",
    "two",
    "three",
    "7",
    "__proto__",
    "x".repeat(128),
    "x".repeat(129),
    "🙂".repeat(64),
    ...ids.slice(0, 5),
  ];
  const raw = (): string => (below(2) === 0 ? one(RAW, below) : JSON.stringify(exoticValue(below, 2)));
  const stamp = (): string => JSON.stringify(one([`${author}.${last}`, "p0.1", "p0.2", "p1.1", "h.1", ""], below));
  const entry = (): string =>
    one([`[0,${stamp()},${raw()}]`, `[${stamp()},${stamp()},${raw()}]`, `[0,${stamp()}]`, raw()], below);
  const fields = (): string => `{"x":${entry()},"y":${entry()},"1":${entry()}}`;
  const cell = (): string =>
    one(
      [
        `[${stamp()},${raw()}]`, `[${stamp()},{"x":${raw()}},1,{"x":${stamp()},"a b":${stamp()},"a":${stamp()},"3":${stamp()}}]`, `[${stamp()}]`,
        `[${stamp()},${raw()},${raw()},${raw()}]`, `[${stamp()},1,2,{},5]`, "0", raw(),
      ],
      below,
    ); // prettier-ignore
  const action = (): string => {
    const key = JSON.stringify(one(keys, below));
    const verb = one([..."sidprq+alfjkn", "", "unknown"], below);
    const args =
      {
        s: () => [key, raw(), one(["", "1", "2", "-1", raw()], below)],
        i: () => [one(['"V"', '"a0"', '"!"', raw()], below), raw(), one(["", "2"], below)],
        d: () => [key],
        p: () => [key, `{"x":${raw()},"2":${raw()}}`, one(["", '["y","x"]', raw()], below)],
        r: () => [key, one([stamp(), `[${stamp()},{"x":${stamp()}}]`, "0", raw()], below), cell()],
        q: () => [key, fields()],
        "+": () => [one(["1", "-5", "9007199254740991", raw()], below)],
      }[verb] ?? (() => [raw()]);
    const parts = args().filter((part) => part !== "");
    return [name, JSON.stringify(verb), ...parts.slice(0, below(8) === 0 ? below(4) : 4)].join(",");
  };
  const several = below(3) === 0 ? `[${Array.from({ length: below(4) }, () => `[${action()}]`).join(",")}]` : action();
  const text = `[${one([JSON.stringify(author), JSON.stringify(author), '"h"', raw()], below)},${number},${several}]`;
  // Sometimes a character is missing, or one too many.
  const at = below(text.length);
  const damaged = [text, text, text, text.slice(0, at) + text.slice(at + 1), `${text.slice(0, at)} ${text.slice(at)}`];
  // Messages travel as UTF-8, which has no half of a character.
  return new TextDecoder().decode(new TextEncoder().encode(one(damaged, below)));
}

/** The state of a program that keeps no rules: `[length, state]` or `[length, state, tail]`. */
export function exoticState(below: Below): string {
  const raw = (): string => (below(3) === 0 ? one(RAW, below) : JSON.stringify(exoticValue(below, 2)));
  const maybe = (text: string): string => (below(40) === 0 ? raw() : text);
  const key = (): string => JSON.stringify(one(["", "one", "two", "7", "x".repeat(129), "p0.1"], below));
  const cell = (): string =>
    one(
      ['["p0.1",1]', '["p0.1",{"x":1},2,{"x":"p0.2"}]', '["h.1"]', '["p0.3",{"k":"a","v":5}]', `["s",${raw()}]`, raw()],
      below,
    );
  const names = ["mshapes", "mtexts", "cscore", "lpen", "tgame", "rledger", "rtotal", "zzz", "", "munknown"];
  const value = (name: string): string =>
    name[0] === "m" ? cell() : one(["5", "[1,2,3]", "-0.5", "1e400", "[7]", '{"sum":3,"last":3}', raw()], below);
  const list = (count: number, make: () => string): string =>
    maybe(`[${Array.from({ length: below(count) }, make).join(",")}]`);
  const table = (): string => {
    const name = one(names, below);
    return maybe(`[${JSON.stringify(name)},${list(4, () => maybe(`[${key()},${value(name)}]`))}]`);
  };
  const deleted = (): string =>
    maybe(one(['["mshapes","one","h.1"]', '["cscore","","h.1"]', "[]", '["mshapes","one"]'], below));
  const mark = (): string =>
    maybe(
      `[${one(['"p0"', '"p1"', '"hostile"', '"x"'], below)},${one(["1", "5", "4503599627370496", "4503599627370497"], below)}]`,
    );
  const state = maybe(`[[${list(6, table)},${list(3, deleted)}],${list(4, mark)}]`);
  const entry = (): string =>
    maybe(
      one(['[1,"[\\"h\\",1,\\"score\\",\\"+\\",1]"]', "[5]", '[2,"no operation"]', '[1,"x",5]', '[-1,"x"]'], below),
    );
  const length = one(["1", "7", "0.5", "100", "1e300", "-1", '"1"'], below);
  return one(
    [
      `[${length},${state}]`,
      `[${length},${state}]`,
      `[${length},${state},${list(4, entry)}]`,
      `[0,0,${list(4, entry)}]`,
      raw(),
    ],
    below,
  );
}
