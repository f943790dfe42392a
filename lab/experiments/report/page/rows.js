// Rows by what they have in common, and numbers as people read them.

/** Our own system among techniques, schemes and policies. */
export const OURS = "groupwire";

/** The rows of each value of `key`, in the order in which the values first appear. */
export function groupBy(rows, key) {
  const groups = new Map();
  for (const row of rows) {
    const value = key(row);
    if (!groups.has(value)) groups.set(value, []);
    groups.get(value).push(row);
  }
  return groups;
}

/** The different values, in the order in which they first appear. */
export const unique = (values) => [...new Set(values)];

/** The item with the least value of `of`; undefined if no item has a number. */
export function minBy(items, of) {
  const known = items.filter((item) => Number.isFinite(of(item)));
  return known.length ? known.reduce((least, item) => (of(item) < of(least) ? item : least)) : undefined;
}

/** The mean of all that are numbers; NaN if there are none. */
export function mean(values) {
  const known = values.filter(Number.isFinite);
  return known.reduce((sum, value) => sum + value, 0) / known.length;
}

/** Like `mean`, of ratios. */
export const geometricMean = (values) => Math.exp(mean(values.map(Math.log)));

/** The last row of each identity: a full measurement stands, whatever quick ones follow it. */
export function newest(rows, { group, subject }) {
  const rowOf = new Map();
  rows.forEach((row, at) => {
    // Lines through points have no identity of their own.
    const id = row.fit ? at : JSON.stringify([...group, ...subject].map((field) => row[field] ?? null));
    const known = rowOf.get(id);
    if (!known || known.quick || !row.quick) rowOf.set(id, row);
  });
  return [...rowOf.values()];
}

/** Three digits that matter, or all before the point: 0.0123, 1.23, 12.3, 1,235. */
export function number(value) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size > 0 && (size < 0.0001 || size >= 1e15)) return value.toExponential(2).replaceAll("-", "−");
  const digits = size === 0 || size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : size >= 0.09995 ? 3 : 4;
  const text = size.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return (value < 0 ? "−" : "") + text;
}

/** A figure of the conditions, without zeros at its end. */
export const plain = (value) => (value ?? 0).toLocaleString("en", { maximumSignificantDigits: 4 });

/** Whether what came for a row was what was sent. */
export const isRight = (row) => row.verified !== false;

export const percent = (share) => `${(100 * share).toFixed(1)} %`;

/** A share with its sign: −1.20 %. */
export function signedPercent(share) {
  const value = 100 * share;
  const sign = Math.abs(value) < 0.005 ? "±" : value < 0 ? "−" : "+";
  return `${sign}${Math.abs(value).toFixed(2)} %`;
}

/** The colour of a figure that has a goal. */
export const tone = (isMet) => (isMet ? "good" : "bad");
