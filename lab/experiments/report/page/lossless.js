// The experiment `lossless`: the LMC paper's Figures 4 to 10, memory, and who leads where.
import { geometricMean, groupBy, minBy, number, plain, signedPercent, tone, unique } from "./rows.js";

const LOSSLESS_LEAD = `Single messages go there and back over a TCP connection, one at a time, each packed by a codec. Effective
throughput is what is left of the link for the messages as they were: the time without compression over the time with it,
times the throughput without (the paper's equations 4 to 6). More is better.`;
const LEADERS = `The best fixed codec of each cell with its effective throughput in Mbit/s and how many times that of no
compression it is; below, how far auto is from it and what it chose for most messages.`;
const STREAMS = `In one direction, without waiting for answers: beside the paper's Table 8, which has 265 Mbit/s point to point
and 261 Mbit/s through a switch, on links of 1000 Mbit/s, without compression.`;
/** How far auto may be behind the best fixed codec. */
const AUTO_NEAR = -0.02;
/** Bars for more codecs than that would be a wall. */
const MOST_BARS = 18;

export function lossless(rows) {
  const single = rows.filter((row) => row.part === "pingpong" && row.link_mbit > 0 && row.effective_mbit != null);
  const cells = [...groupBy(single, (row) => [row.payload, row.link_mbit, row.hops, row.size].join()).values()].map(
    cellOf,
  );
  const blocks = [{ text: LOSSLESS_LEAD }, { text: extent(rows) }];
  if (cells.length) {
    blocks.push({ tiles: tiles(cells) }, { heading: "Who leads on which link" }, { table: leadersByLink(cells) });
    const panels = [...groupBy(cells, (cell) => cell.payload)].map(([name, here]) => ({ name, blocks: payload(here) }));
    blocks.push({ choice: "Payload", panels });
  }
  const streams = rows.filter((row) => ["bandwidth", "throughput"].includes(row.part));
  if (streams.length) {
    blocks.push({ heading: "As much as goes over a link" }, { text: STREAMS }, { table: streamTable(streams) });
  }
  blocks.push(...memory(rows));
  return { title: "Which codec under each message?", blocks };
}

function extent(rows) {
  const counts = rows.map((row) => row.messages ?? 0);
  const [least, most] = [Math.min(...counts), Math.max(...counts)].map(plain);
  const payloads = unique(rows.map((row) => row.payload)).length;
  return `${plain(rows.length)} rows, ${payloads} payloads, ${least} to ${most} messages each.`;
}

/** What was measured under the same conditions: who is best, by how much, and how far auto is from it. */
function cellOf(rows) {
  const [{ payload, link_mbit, hops, size }] = rows;
  const of = (codec) => rows.find((row) => row.codec === codec);
  const best = minBy(
    rows.filter((row) => row.codec !== "auto"),
    (row) => -row.effective_mbit,
  );
  const over = (row) => (row && best ? best.effective_mbit / row.effective_mbit : NaN);
  const auto = of("auto");
  return { rows, payload, link_mbit, hops, size, best, auto, gain: over(of("none")), behind: 1 / over(auto) - 1 };
}

const pathName = ({ hops }) => ["point to point", "one switch"][hops] ?? `${hops} switches`;
const linkName = (cell) => `${plain(cell.link_mbit)} Mbit/s, ${pathName(cell)}`;
const byLink = (cells) =>
  [...groupBy(cells, linkName).values()].sort(
    ([one], [other]) => one.hops - other.hops || one.link_mbit - other.link_mbit,
  );

/** The paper's figure for a link. */
function papersFigure({ link_mbit, hops }) {
  const rate = [10, 100, 1000].indexOf(link_mbit);
  return rate < 0 || hops > 1 ? undefined : (hops ? 4 : 7) + rate;
}

function tiles(cells) {
  const count = (some, all) => `${some.length} of ${all.length}`;
  const [gains, behinds] = ["gain", "behind"].map((field) => cells.filter((cell) => Number.isFinite(cell[field])));
  const tiles = [];
  if (behinds.length) {
    const near = behinds.filter((cell) => cell.behind >= AUTO_NEAR);
    const worst = minBy(behinds, (cell) => cell.behind);
    const where = `${linkName(worst)}, ${worst.payload}, ${worst.size} bytes`;
    tiles.push({
      what: "auto is within 2 % of the best fixed codec",
      figure: count(near, behinds),
      note: `cells; the worst: ${signedPercent(worst.behind)}, ${where}`,
      tone: tone(near.length === behinds.length),
    });
  }
  if (gains.length) {
    const pays = (cells) =>
      count(
        cells.filter((cell) => cell.gain > 1),
        cells,
      );
    const most = Math.max(...gains.map((cell) => cell.gain));
    const note = `cells; at most ${number(most)} times the throughput of none`;
    tiles.push({ what: "Compression pays", figure: pays(gains), note });
    const [fastest, largest] = ["link_mbit", "size"].map((field) => Math.max(...cells.map((cell) => cell[field])));
    const there = gains.filter((cell) => cell.link_mbit === fastest && cell.size === largest);
    const what = `A codec wins at ${plain(fastest)} Mbit/s, ${largest} bytes`;
    if (there.length) tiles.push({ what, figure: pays(there), note: "cells; in the paper none at 1000 Mbit/s" });
  }
  return tiles;
}

/** A line per link, over all payloads and sizes. */
function leadersByLink(cells) {
  const papersWord = (figure) =>
    !figure ? "–" : [6, 9].includes(figure) ? "no codec pays" : "LZ4, LZO lead, then LZFX";
  return {
    head: ["link", "cells led", "gain over none", "auto from the best", "in the paper"],
    rows: byLink(cells).map((here) => {
      const led = [...groupBy(here, (cell) => cell.best?.codec)].sort((one, other) => other[1].length - one[1].length);
      const words = led.map(([codec, cells]) => `${codec}\u00a0${cells.length}`);
      const gains = here
        .map((cell) => cell.gain)
        .filter(Number.isFinite)
        .sort((one, other) => one - other);
      const behinds = here.map((cell) => cell.behind).filter(Number.isFinite);
      const near = behinds.filter((behind) => behind >= AUTO_NEAR).length;
      const worst = Math.min(...behinds);
      return [
        { text: `${plain(here[0].link_mbit)} Mbit/s`, note: pathName(here[0]) },
        { text: words.slice(0, 4).join(", "), note: words.slice(4).join(", ") },
        gains.length
          ? { text: `×${number(gains[gains.length >> 1])}`, note: `×${number(gains[0])} to ×${number(gains.at(-1))}` }
          : "–",
        behinds.length
          ? {
              text: `${signedPercent(worst)} at worst`,
              note: `within 2 % in ${near} of ${behinds.length}`,
              tone: tone(worst >= AUTO_NEAR),
            }
          : "–",
        papersWord(papersFigure(here[0])),
      ];
    }),
  };
}

/** Everything about a payload: leaders first. */
function payload(cells) {
  const rows = cells.flatMap((cell) => cell.rows);
  const { codecs, hidden } = ranked(cells);
  const charts = byLink(cells).map((here) => {
    const figure = papersFigure(here[0]);
    return {
      spec: "lossless-throughput",
      title: linkName(here[0]),
      caption: figure ? `Beside the paper's Figure ${figure}.` : "",
      data: here.flatMap((cell) => cell.rows),
      level: here[0].link_mbit,
    };
  });
  return [
    { text: LEADERS },
    { table: leaders(cells) },
    { text: "At first, the best level of each codec is shown." },
    { charts, series: codecs, hidden, strong: "auto" },
    ratios(rows, codecs, hidden),
  ];
}

/** The codec of a choice, without filter and level. */
const family = (choice) => choice.split("+").at(-1).split("-")[0];

/** Codecs, the best first, and those that are hidden at first: all but the best level of each, and suppressors of runs. */
function ranked(cells) {
  const names = unique(cells.flatMap((cell) => cell.rows.map((row) => row.codec)));
  const gain = (codec) => {
    const share = (cell) => cell.rows.find((row) => row.codec === codec)?.effective_mbit / cell.best?.effective_mbit;
    return geometricMean(cells.map(share).filter((share) => share > 0));
  };
  const place = (codec) => ["auto", "none"].indexOf(codec) + 1 || 3;
  const gains = new Map(names.map((name) => [name, gain(name)]));
  const codecs = names.sort((one, other) => place(one) - place(other) || gains.get(other) - gains.get(one));
  const isFirst = (codec, at) => codecs.findIndex((other) => family(other) === family(codec)) === at;
  const hidden = codecs.filter((codec, at) => ["rle", "null"].includes(family(codec)) || !isFirst(codec, at));
  return { codecs: codecs.filter((codec) => !hidden.includes(codec)).concat(hidden), hidden };
}

/** A line per link, a column per size. */
function leaders(cells) {
  const sizes = unique(cells.map((cell) => cell.size)).sort((one, other) => one - other);
  return {
    head: ["link", ...sizes.map((size) => `${size} bytes`)],
    rows: byLink(cells).map((here) => [
      { text: `${plain(here[0].link_mbit)} Mbit/s`, note: pathName(here[0]) },
      ...sizes.map((size) => leader(here.find((cell) => cell.size === size))),
    ]),
  };
}

function leader(cell) {
  if (!cell?.best) return "–";
  const { codec, effective_mbit } = cell.best;
  const gain = Number.isFinite(cell.gain) && codec !== "none" ? ` (×${number(cell.gain)})` : "";
  const text = `${codec} ${number(effective_mbit)}${gain}`;
  if (!Number.isFinite(cell.behind)) return text;
  const picked = minBy(Object.entries(cell.auto.picked ?? {}), ([, share]) => -share);
  const note = `auto ${signedPercent(cell.behind)}${picked ? `, mostly ${picked[0]}` : ""}`;
  return { text, note, tone: tone(cell.behind >= AUTO_NEAR) };
}

/** Figure 10: how many times smaller each codec makes messages of each size. */
function ratios(rows, codecs, hidden) {
  const known = rows.filter((row) => row.ratio != null && !["auto", "none"].includes(row.codec));
  const wanted = codecs.length > MOST_BARS ? known.filter((row) => !hidden.includes(row.codec)) : known;
  // The ratio does not depend on the link.
  const cells = [...groupBy(wanted, (row) => `${row.codec} ${row.size}`).values()].map(([row]) => row);
  const data = cells.sort((one, other) => one.size - other.size).map((row) => ({ ...row, bytes: `${row.size} bytes` }));
  const caption = `Bytes before over bytes after: more is smaller. Beside the paper's Figure 10, in which LZMA makes
    messages smallest and bzip2 hardly smaller.`;
  const chart = { spec: "lossless-ratio", title: "Compression ratio", caption, data, level: 1 };
  return { charts: [chart], series: unique(data.map((row) => row.bytes)) };
}

/** What TCP carries, and what large messages in a row get. */
function streamTable(rows) {
  const column = (row) => (row.part === "bandwidth" ? "TCP alone" : row.codec);
  const columns = unique(rows.map(column));
  return {
    caption: "Mbit/s of messages as they were",
    head: ["link", ...columns],
    rows: byLink(rows).map((here) => [
      linkName(here[0]),
      ...columns.map((name) => number(here.find((row) => column(row) === name)?.effective_mbit)),
    ]),
  };
}

function memory(rows) {
  const known = [
    ...groupBy(
      rows.filter((row) => row.memory_bytes > 0),
      (row) => row.codec,
    ),
  ];
  if (!known.length) return [];
  const data = known.map(([codec, rows]) => ({ codec, kb: Math.max(...rows.map((row) => row.memory_bytes)) / 1024 }));
  const caption =
    "To pack and to unpack, as each codec reckons it; the most of all sizes. The paper left it to the future.";
  return [{ heading: "Memory" }, { charts: [{ spec: "lossless-memory", title: "Memory of one end", caption, data }] }];
}
