// Does what a paper published hold for rows that the laboratory measured? lab/evidence/registry.json
// says for each table and figure which values were published, which rows answer them, and by which
// rules both are compared. Docs: lab/evidence/README.md.
import { isRight, mean } from "./rows.js";

/** Whose rows are compared with the paper: its own method as we built it again, or ours. */
export const SIDES = ["again", "ours"];

/** What a side of an entry can come to. */
export const VERDICTS = { holds: "reproduced", differs: "differs", missing: "not measured", none: "does not apply" };

/** How many places without rows a verdict names. */
const NAMED = 3;

/** What a row has at a path of fields, such as `fit.r2`. */
const at = (row, path) => path.split(".").reduce((value, field) => value?.[field], row);

/** Whether a row has all these values; a list permits any of its values. */
export const matches = (row, wanted) =>
  Object.entries(wanted).every(([path, value]) => [value].flat().includes(at(row, path) ?? null));

/**
 * The value that rows have for a place of a scheme: the mean over rows, with the least and the
 * greatest of all seeds; undefined where nothing was measured.
 */
export function measured(entry, rows, side, series, x) {
  for (const source of entry.rows) {
    const scheme = (source.schemes ?? entry.schemes)?.[series]?.[side];
    const place = x === null ? {} : (source.at ?? entry.at)?.[x];
    if (!scheme || !place) continue;
    const wanted = { ...source.where, ...place, ...scheme };
    // Rows for which something else came than was sent are no answer.
    const isAnswer = (row) => row.experiment === source.experiment && isRight(row) && matches(row, wanted);
    const found = rows.filter(isAnswer);
    const values = found.map((row) => valueOf(source, row, rows, wanted)).filter((value) => !Number.isNaN(value));
    if (values.length === 0) continue;
    const ends = (source.range ?? []).flatMap((field) => found.map((row) => at(row, field) * (source.scale ?? 1)));
    const all = values.concat(ends.filter(Number.isFinite));
    const value = values.includes(Infinity) ? Infinity : mean(values);
    return { value, least: Math.min(...all), greatest: Math.max(...all), rows: found.length };
  }
  return undefined;
}

/**
 * A field of a row in the paper's unit, by itself or over the same field of another row; infinite if it is the time of
 * what was stopped before it came, and no number if the row has none.
 */
function valueOf({ value, scale = 1, per, over }, row, rows, wanted) {
  const own = (at(row, value) ?? (row.stopped ? Infinity : NaN)) / (per ? at(row, per) : 1);
  if (!over) return own * scale;
  const base = rows.find(
    (other) =>
      other.experiment === row.experiment &&
      (other.seed ?? null) === (row.seed ?? null) &&
      matches(other, { ...wanted, ...over.where }),
  );
  return (own / at(base, over.value ?? value)) * scale;
}

/** All places of an entry: a published value, or null where only words are, with what was measured. */
export function comparison(entry, rows) {
  return (entry.published ?? []).map(({ series, x = null, value = null, ...more }) => ({
    ...{ series, x, value, ...more },
    ...Object.fromEntries(SIDES.map((side) => [side, measured(entry, rows, side, series, x)])),
  }));
}

/** What the rules of an entry say of each side: a verdict, and a sentence for each rule. */
export function judge(entry, rows) {
  const places = comparison(entry, rows);
  const verdicts = SIDES.map((side) => [side, judgeSide(entry, places, side)]);
  return { places, ...Object.fromEntries(verdicts) };
}

/** How many entries that count have each verdict for a side; `verdicts` has those of each entry by its id. */
export function totals(entries, verdicts, side) {
  const counts = { holds: 0, differs: 0, missing: 0, none: 0 };
  for (const { id, counted } of entries) if (counted) counts[verdicts[id][side].verdict] += 1;
  return { ...counts, applicable: counts.holds + counts.differs + counts.missing };
}

function judgeSide(entry, places, side) {
  const rules = entry.rules.filter((rule) => (rule.sides ?? SIDES).includes(side));
  const mine = places.filter(({ series }) => hasScheme(entry, series, side));
  if (rules.length === 0 || mine.length === 0) return { verdict: "none", lines: [] };
  const lost = mine.filter((place) => !place[side]).map(({ series, x }) => (x === null ? series : `${series} ${x}`));
  if (lost.length) {
    const more = lost.length > NAMED ? ` and ${lost.length - NAMED} more` : "";
    return { verdict: "missing", lines: [`no rows for ${lost.slice(0, NAMED).join(", ")}${more}`] };
  }
  const results = rules.map((rule) => RULES[rule.kind](rule, places, side, entry));
  return { verdict: results.every(({ holds }) => holds) ? "holds" : "differs", lines: results.map(({ line }) => line) };
}

const hasScheme = (entry, series, side) =>
  entry.rows.some((source) => (source.schemes ?? entry.schemes)?.[series]?.[side]);

/** Among places, those that a rule speaks of and that this side has. */
const spoken = ({ series, places: xs }, places, side) =>
  places.filter(
    (place) => place[side] && (!series || series.flat().includes(place.series)) && (!xs || xs.includes(place.x)),
  );

/** The series that a rule names, in front of what it says of them. */
const naming = ({ series }, what) => (series ? `${series.flat().join(" / ")} ${what}` : what);

/** What a rule permits against itself. */
const slackOf = ({ slack }) => (slack ? ` (but for ${100 * slack} %)` : "");

/** The bounds of a rule. */
const inWords = ({ least, greatest }) =>
  [least === undefined ? "" : `at least ${least}`, greatest === undefined ? "" : `at most ${greatest}`]
    .filter((text) => text)
    .join(", ");

/** Whether enough of the comparisons hold, and the sentence that says how many. */
function tally(checks, share, what) {
  const held = checks.filter((check) => check).length;
  return { holds: checks.length > 0 && held >= share * checks.length, line: `${what}: ${held} of ${checks.length}` };
}

/**
 * Whether our value is near enough to the published one. What we do better than the paper does not
 * differ from it: `better` says which way that is, and counts for our side only.
 */
function near(place, side, better, lowest, highest) {
  const { value } = place[side];
  const isBetter = side === "ours" && better && (better === "less" ? value < lowest : value > highest);
  return isBetter || (value >= lowest && value <= highest);
}

const RULES = {
  /** Each value within a factor of the published one. */
  factor(rule, places, side, entry) {
    const known = spoken(rule, places, side).filter(({ value }) => value !== null);
    const checks = known.map((place) =>
      near(place, side, entry.better, place.value / rule.within, place.value * rule.within),
    );
    return tally(checks, rule.share ?? 1, naming(rule, `within a factor of ${rule.within}`));
  },

  /** Each value within so much of the published one, in its unit. */
  points(rule, places, side, entry) {
    const known = spoken(rule, places, side).filter(({ value }) => value !== null);
    const checks = known.map((place) =>
      near(place, side, entry.better, place.value - rule.within, place.value + rule.within),
    );
    return tally(checks, rule.share ?? 1, naming(rule, `within ${rule.within} ${entry.unit}`));
  },

  /**
   * The named series, from the least to the greatest at each place; series in one list are not
   * compared with each other. `slack` permits a pair to be reversed by this share of the greater.
   */
  order(rule, places, side) {
    const known = spoken(rule, places, side);
    const rank = new Map(rule.series.flatMap((names, at) => [names].flat().map((name) => [name, at])));
    const checks = [];
    for (const lower of known)
      for (const upper of known) {
        if (lower.x !== upper.x || rank.get(lower.series) >= rank.get(upper.series)) continue;
        checks.push(lower[side].value <= upper[side].value * (1 + (rule.slack ?? 0)));
      }
    return tally(
      checks,
      rule.share ?? 1,
      `order ${rule.series.map((names) => [names].flat().join(" / ")).join(" ≤ ")}${slackOf(rule)}`,
    );
  },

  /** Each value within the published range, or better than it. */
  range(rule, places, side, entry) {
    const known = spoken(rule, places, side).filter(({ from }) => from !== undefined);
    const checks = known.map((place) => near(place, side, entry.better, place.from, place.to));
    return tally(checks, rule.share ?? 1, naming(rule, "within the published range"));
  },

  /** At each place that has both, the value of a series is so many times that of another one. */
  ratio(rule, places, side) {
    const { of, to, least = -Infinity, greatest = Infinity } = rule;
    const known = spoken({ ...rule, series: [of, to] }, places, side);
    const pairs = known
      .filter(({ series }) => series === of)
      .map((one) => [one, known.find(({ series, x }) => series === to && x === one.x)])
      .filter(([, other]) => other);
    const checks = pairs.map(([one, other]) => one[side].value / other[side].value);
    return tally(
      checks.map((ratio) => ratio >= least && ratio <= greatest),
      rule.share ?? 1,
      `${of} ${inWords(rule)} times ${to}`,
    );
  },

  /** At each place the same series is the best one as in the paper. */
  winner(rule, places, side, entry) {
    const known = spoken(rule, places, side).filter(({ value }) => value !== null);
    const best = (here, of) =>
      here.reduce((one, other) =>
        (entry.better === "less" ? of(other) < of(one) : of(other) > of(one)) ? other : one,
      );
    const checks = [...new Set(known.map(({ x }) => x))].map((x) => {
      const here = known.filter((place) => place.x === x);
      const theirs = best(here, ({ value }) => value);
      const found = best(here, (place) => place[side].value);
      return theirs.series === found.series || found[side].value === theirs[side].value;
    });
    return tally(checks, rule.share ?? 1, "the same one is best");
  },

  /**
   * Each series rises, falls or stays from each place to the next one. It may go the other way by the share `slack`;
   * if that is below 0, it has to rise or fall by so much.
   */
  shape(rule, places, side) {
    const known = spoken(rule, places, side);
    const room = 1 + (rule.slack ?? 0);
    const isUp = (one, next) => next * room >= one;
    const isDown = (one, next) => next <= one * room;
    const holds = { rises: isUp, falls: isDown, stays: (one, next) => isUp(one, next) && isDown(one, next) };
    const checks = [...new Set(known.map(({ series }) => series))].flatMap((series) => {
      const values = known.filter((place) => place.series === series).map((place) => place[side].value);
      return values.slice(1).map((value, at) => holds[rule.direction](values[at], value));
    });
    return tally(checks, rule.share ?? 1, naming(rule, rule.direction));
  },

  /** At each place the subject is within a factor of the best one among the series. */
  nearBest({ subject, ...rule }, places, side, entry) {
    const known = spoken({ ...rule, series: [subject, rule.among] }, places, side);
    const checks = [...new Set(known.map(({ x }) => x))].map((x) => {
      const here = known.filter((place) => place.x === x);
      const values = here.map((place) => place[side].value);
      const own = here.find((place) => place.series === subject)?.[side].value;
      const ratio = entry.better === "less" ? own / Math.min(...values) : Math.max(...values) / own;
      return ratio <= rule.within;
    });
    return tally(checks, rule.share ?? 1, `${subject} within a factor of ${rule.within} of the best`);
  },

  /** At each place ours is at least as good as the paper's own method, except for `slack`. */
  ahead(rule, places, side, entry) {
    const known = spoken(rule, places, side).filter(({ again }) => again);
    const room = 1 + (rule.slack ?? 0);
    const checks = known.map(({ again, ours }) =>
      entry.better === "less" ? ours.value <= again.value * room : ours.value * room >= again.value,
    );
    return tally(checks, rule.share ?? 1, naming(rule, `at least as good as its method${slackOf(rule)}`));
  },

  /** Each value within these bounds, which the paper states in words. */
  bounds(rule, places, side, entry) {
    const { least = -Infinity, greatest = Infinity } = rule;
    const checks = spoken(rule, places, side).map((place) => near(place, side, entry.better, least, greatest));
    return tally(checks, rule.share ?? 1, naming(rule, `${inWords(rule)} ${entry.unit}`));
  },
};

/** The kinds of rules that a registry may use. */
export const KINDS = Object.keys(RULES);
