// The tables and figures of the five papers: what each published, what its method as we built it
// again came to, and ours, with the verdict of the entry's rules.
import { number, unique } from "./rows.js";
import { VERDICTS, judge, matches, totals } from "./verdicts.js";

const SOURCES = { paper: "published", again: "its method, run again", ours: "groupwire" };
const NAMES = { again: "The paper's method, run again", ours: "Groupwire" };
const TONES = { holds: "good", differs: "bad" };
/** The series of entries whose codec Groupwire chooses. */
const OUR_CHOICE = "our choice";
/** Series, of which each may have a second colour for ours, that still have a colour of their own. */
const MOST_SERIES = 4;

/** Sections of the page: a table of all verdicts, then the entries of each paper. */
export function papers(registry, rows) {
  const judged = registry.entries.map((entry) => ({ entry, ...judge(entry, rows) }));
  const inOrder = unique(registry.entries.map(({ paper }) => paper));
  const of = inOrder.map((paper) => ({
    id: `paper-${paper}`,
    label: paper,
    title: registry.papers[paper].title,
    blocks: [
      { text: registry.papers[paper].about },
      ...judged.filter(({ entry }) => entry.paper === paper && measures(entry)).flatMap((one) => shown(one, rows)),
      ...without(registry.entries.filter((entry) => entry.paper === paper && !measures(entry))),
    ],
  }));
  return [contents(registry, judged), ...of];
}

/** Whether the paper states results there, and does not only define or depict something. */
const measures = ({ measures = true }) => measures;

/** A sentence about the figures that have no results. */
function without(entries) {
  const named = entries.map(({ label, caption }) => `${label} (${caption})`);
  return named.length ? [{ text: `Without results of their own: ${named.join("; ")}.` }] : [];
}

function contents(registry, judged) {
  const counted = judged.filter(({ entry }) => entry.counted);
  const verdicts = Object.fromEntries(judged.map(({ entry, again, ours }) => [entry.id, { again, ours }]));
  const tiles = [
    ["again", "The paper's own method, run again"],
    ["ours", "Groupwire under the paper's conditions"],
  ].map(([side, what]) => {
    const { holds, differs, missing, none, applicable } = totals(registry.entries, verdicts, side);
    const rest = [`${differs} differ`, `${missing} are not measured`, none ? `to ${none} it does not apply` : ""];
    const note = rest.filter((text) => text).join(", ");
    return { what, figure: `${holds} of ${applicable}`, note, tone: differs + missing ? undefined : "good" };
  });
  const table = {
    head: ["", "what it shows", "its method, run again", "groupwire"],
    rows: counted.map(({ entry, again, ours }) => [
      { text: `${registry.papers[entry.paper].name}, ${entry.label}`, href: `#${entry.id}` },
      entry.caption,
      verdictCell(again),
      verdictCell(ours),
    ]),
  };
  return {
    id: "papers",
    label: "the papers",
    title: "Five papers, and what we measured",
    blocks: [{ text: registry.about }, { tiles }, { table }],
  };
}

const verdictCell = ({ verdict, lines }) => ({ text: VERDICTS[verdict], note: lines.join("; "), tone: TONES[verdict] });

/** An entry: verdicts, what the paper says, plots, and values of all three side by side. */
function shown({ entry, places, again, ours }, rows) {
  const blocks = [{ heading: `${entry.label}: ${entry.caption}`, id: entry.id }];
  for (const [side, { verdict, lines }] of Object.entries({ again, ours })) {
    if (verdict === "none") continue;
    const because = (verdict === "differs" && entry.because?.[side]) || undefined;
    blocks.push({ verdict: `${NAMES[side]}: ${VERDICTS[verdict]}`, lines, because, tone: TONES[verdict] });
  }
  const claims = (entry.claims ?? []).map(({ text, section }) => `The paper (${section}): ${text}.`);
  if (claims.length) blocks.push({ list: claims });
  const drawn = charts(entry, places);
  if (drawn) blocks.push(drawn);
  for (const curve of entry.curves ?? []) blocks.push(curves(curve, rows));
  const more = [];
  if (entry.conditions !== "-") more.push({ text: `The paper's conditions: ${entry.conditions}.` });
  if (entry.notes) more.push({ list: entry.notes });
  if (places.length) more.push({ table: values(entry, places) });
  if (more.length) blocks.push({ details: "Conditions and values", blocks: more });
  return blocks;
}

/** Whether the paper states a value for a place, or a range. */
const isPublished = ({ value, from }) => value !== null || from !== undefined;

function values(entry, places) {
  const spread = (found) =>
    found && {
      text: found.value === Infinity ? "stopped" : number(found.value),
      note: found.least < found.greatest ? `${number(found.least)} to ${number(found.greatest)}` : undefined,
    };
  const published = ({ value, from, to, reading }) => {
    if (!isPublished({ value, from })) return "–";
    const text = value === null ? `${number(from)} to ${number(to)}` : number(value);
    return { text, note: reading === "text" ? "from the prose" : undefined };
  };
  const columns = [
    [entry.along ?? "", ({ x }) => String(x ?? "–"), places.some(({ x }) => x !== null)],
    [SOURCES.paper, published, places.some(isPublished)],
    [SOURCES.again, ({ again }) => spread(again) ?? "–", places.some(({ again }) => again)],
    [SOURCES.ours, ({ ours }) => spread(ours) ?? "–", places.some(({ ours }) => ours)],
  ].filter(([, , isShown]) => isShown);
  return {
    caption: entry.unit,
    head: ["", ...columns.map(([name]) => name)],
    rows: places.map((place) => [place.series, ...columns.map(([, cell]) => cell(place))]),
  };
}

/** Bars, or lines where places are numbers, of what was published and of both sides. */
function charts(entry, places) {
  if (entry.plot === "none" || places.length < 2) return undefined;
  const isMany = unique(places.map(({ series }) => series)).length > MOST_SERIES;
  if (entry.plot === "lines") return isMany ? linesOfSides(entry, places) : together(entry, places);
  // With more series than colours, each place has a line for each of them.
  const isCompared = isMany || places.some(isPublished);
  const data = known(places.flatMap((place) => (isCompared ? bars(place) : measuredOnly(place))));
  if (data.length === 0) return undefined;
  const chart = { spec: "papers-bars", title: entry.label, axes: { x: entry.unit, y: null }, scale: entry.scale, data };
  const series = unique(data.map(({ source }) => source));
  return { charts: [chart], series, strong: isCompared ? SOURCES.ours : OUR_CHOICE, wide: true };
}

const known = (data) => data.filter(({ value }) => Number.isFinite(value));

/** Charts with lines, each of a title and its data. */
function lines(entry, parts) {
  const axes = { x: entry.along, y: entry.unit };
  const chart = ([title, data]) => ({ spec: "papers-lines", title, axes, scale: entry.scale, data: known(data) });
  const charts = parts.map(chart).filter(({ data }) => data.length);
  if (charts.length === 0) return undefined;
  const series = unique(charts.flatMap(({ data }) => data.map(({ source }) => source)));
  return { charts, series, strong: OUR_CHOICE, wide: true };
}

/** One chart of both sides. */
const together = (entry, places) => lines(entry, [[entry.label, places.flatMap(measuredOnly)]]);

/** A chart of each side, unless both are the same except for what only ours has. */
function linesOfSides(entry, places) {
  const isSame = places.every(({ again, ours }) => !again || !ours || again.value === ours.value);
  if (isSame) return together(entry, places);
  const of = (side) => places.map((place) => ({ x: place.x, source: place.series, value: place[side]?.value }));
  return lines(entry, [
    [`${entry.label}: ${SOURCES.again}`, of("again")],
    [`${entry.label}: ${SOURCES.ours}`, of("ours")],
  ]);
}

/** A place's published value and those of both sides, each a bar. */
function bars({ series, x, value, again, ours }) {
  const place = [series, x].filter((text) => text !== null).join(", ");
  const values = { paper: value, again: again?.value, ours: ours?.value };
  return Object.entries(values).map(([source, value]) => ({ place, x, source: SOURCES[source], value }));
}

/** A place of which nothing was published: the series' own value, and ours where it is another one. */
function measuredOnly({ series, x, again, ours }) {
  const place = String(x ?? series);
  const own = { place, x, source: series, value: (again ?? ours)?.value };
  const differs = again && ours && ours.value !== again.value;
  return differs ? [own, { place, x, source: `${series}: ${SOURCES.ours}`, value: ours.value }] : [own];
}

/** Plots straight from rows: a field along another one, a line for each value of `series`. */
function curves({ experiment, where, x, y, series, title, axes, spec = "papers-curve" }, rows) {
  const found = rows.filter((row) => row.experiment === experiment && matches(row, where ?? {}));
  const data = found.flatMap((row) => {
    // A row has either one point, or lists of them.
    const [xs, ys] = [[row[x]].flat(), [row[y]].flat()];
    return xs.map((at, index) => ({ place: String(at), x: at, value: ys[index] ?? null, source: String(row[series]) }));
  });
  const charts = [{ spec, title, axes, data }];
  return { charts, series: unique(data.map((row) => row.source)), wide: true };
}
