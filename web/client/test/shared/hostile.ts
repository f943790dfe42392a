/** Operations with numbers, sizes and ids that no program of this package sends. */

const DEEP = `${"[".repeat(1100)}${"]".repeat(1100)}`;

/** Numbers as JSON: too large, too exact, not exact, or none. */
const NUMBERS = [
  "9007199254740991",
  "-9007199254740991",
  "9007199254740992",
  "1e308",
  "-1e308",
  "1e400",
  "1.5",
  '"3"',
  "null",
  "1",
];

/** The value of a key. */
const VALUES = ['{"x":1e400}', '{"x":1e308}', `{"x":${DEEP}}`, DEEP, "1e400", '{"x":5e-324}'];

/** Keys of places in a list, between which nothing fits, or only what is long. */
const PLACES = ["", "0", "00000001", "V0", "!", "zzzzzzzzzzz", `${"0".repeat(3000)}1`, "z".repeat(1500), "Vé", "V0001"];

/** An operation in the name of an author whose last operation has the number `last`. */
export function hostileOperation(author: string, last: number, below: (limit: number) => number): string {
  const one = (of: readonly (string | number)[]): string => String(of[below(of.length)]);
  const key = `"${one(["one", "two", "three"])}"`;
  const place = JSON.stringify(one(PLACES));
  const number = one([
    last + 1,
    last + 2,
    last + 2 ** 32,
    last + 2 ** 32 + 1,
    2 ** 53 - 1,
    "1e300",
    "1e400",
    "-1",
    "1.5",
  ]);
  const action = one([
    `"score","+",${one(NUMBERS)}`,
    `"score","+",${one(NUMBERS)}`,
    `"shapes","s",${key},${one(VALUES)}`,
    `"shapes","s",${key},{"x":1},9007199254740991`,
    `"shapes","p",${key},${one(VALUES.slice(0, 3))}`,
    `"notes","s",${key},${one(VALUES)}`,
    `"texts","i",${place},"hostile"`,
    `"texts","i",${place},${one(VALUES)}`,
    `"texts","p","${author}.${last}",{"k":${place}}`,
    `"shapes","r",${key},${DEEP},["s",1]`,
    `"ledger","a","hostile/${author}.${number}"`,
  ]);
  return `["${author}",${number},${action}]`;
}
