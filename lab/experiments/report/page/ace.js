// The experiment `ace`: which codec for which block, over simulated and real links.
import { OURS, geometricMean, groupBy, minBy, number, plain, signedPercent, tone, unique } from "./rows.js";

const ACE_LEAD = `A stream of files goes from a server to a client, each block by whichever codec a policy chooses: always the same
one, none at all, or one that is chosen by forecasts. Less time is better.`;
const FITS = `Each point is a block of 32 KiB. Ratios of two codecs are on a line, as in the paper; times of today's codecs hardly
follow ratios.`;
/** What adapts, and what cannot be had. */
const NOT_STATIC = [OURS, "ace-2005", "zstd-adapt", "oracle", "bound"];
const isStatic = (policy) => !NOT_STATIC.includes(policy);
/** Goals: the time over the best static policy's in nine of ten cells, in every cell, and the mean time over the oracle's. */
const NEAR_BEST = 0.05;
const CELLS_NEAR = 0.9;
const WORST_CELL = 0.15;
const OVER_ORACLE = 1.1;
/** How far the rate may be behind the best static policy's two seconds after a step. */
const NEAR_AFTER_STEP = 0.1;
const SHOWN_POLICIES = [OURS, "never", "lz4", "zstd-3", "zstd-adapt", "ace-2005"];

export function ace(rows) {
  const part = (...names) => rows.filter((row) => names.includes(row.part));
  const scenario = (rows, start) => rows.filter((row) => row.scenario.startsWith(start));
  const simulated = part("simulated");
  return {
    title: "Which codec for which block of a stream?",
    blocks: [
      { text: ACE_LEAD },
      ...simulatedLinks(scenario(simulated, "link-")),
      ...scenarios(scenario(simulated, "scenario")),
      ...realLinks(part("real")),
      ...steps(scenario(part("simulated", "steps"), "step-")),
      ...fits(part("fits").map((row) => row.fit)),
    ],
  };
}

const policies = (rows) => unique(rows.map((row) => row.policy));
const policySeries = (rows) => {
  const series = policies(rows).filter((policy) => policy !== "oracle");
  return { series, hidden: series.filter((policy) => !SHOWN_POLICIES.includes(policy)) };
};

function simulatedLinks(rows) {
  if (!rows.length) return [];
  const whole = rows.filter((row) => row.file === "all");
  const left = (share) => plain(100 * (share ?? 1));
  const shares = (row) => `server ${left(row.server_cpu_left)} %, client ${left(row.client_cpu_left)} % left`;
  const panels = [...groupBy(whole, shares)].map(([name, here]) => {
    const data = here.filter((row) => row.policy !== "oracle").map((row) => ({ ...row, times: 1 + row.over_oracle }));
    const caption = "All files. The oracle knows everything and takes what is best for each block.";
    const charts = [{ spec: "ace-oracle", title: "Time over the oracle's", caption, data }];
    return { name, blocks: [{ charts, ...policySeries(here) }] };
  });
  return [
    { heading: "Links and processors in simulated time" },
    { tiles: aceTiles(rows) },
    { table: policyMeans(whole) },
    { choice: "Processors", panels },
  ];
}

/** The geometric mean over links and processors of the time over the oracle's, the least first. */
function oracleMeans(rows) {
  const times = rows.filter((row) => row.file === "all" && row.over_oracle > -1);
  const mean = ([policy, rows]) => ({ policy, rows, times: geometricMean(rows.map((row) => 1 + row.over_oracle)) });
  return [...groupBy(times, (row) => row.policy)].map(mean).sort((one, other) => one.times - other.times);
}

function aceTiles(rows) {
  const ours = rows.filter((row) => row.policy === OURS && row.over_best != null);
  const tiles = [];
  const worst = minBy(ours, (row) => -row.over_best);
  if (worst) {
    const near = ours.filter((row) => row.over_best <= NEAR_BEST).length;
    tiles.push({
      what: "Within 5 % of the best static policy",
      figure: `${near} of ${ours.length}`,
      note: "cells: links, processors, files; 90 % are asked for",
      tone: tone(near >= CELLS_NEAR * ours.length),
    });
    tiles.push({
      what: "The worst cell",
      figure: signedPercent(worst.over_best),
      note: `${worst.scenario}, ${worst.file}`,
      tone: tone(worst.over_best <= WORST_CELL),
    });
  }
  const means = oracleMeans(rows);
  const mean = means.find((mean) => mean.policy === OURS);
  const best = means.find((mean) => isStatic(mean.policy));
  if (mean) {
    tiles.push({
      what: "Times the oracle, all files, mean over cells",
      figure: number(mean.times),
      note: best ? `best static: ${best.policy}, ${number(best.times)}` : "",
      tone: tone(mean.times <= OVER_ORACLE),
    });
  }
  return tiles;
}

function policyMeans(rows) {
  const worst = (rows) => minBy(rows, (row) => -(row.over_best ?? NaN))?.over_best;
  return {
    caption: "all files, over all links and processors",
    head: ["policy", "times the oracle, mean", "over the best static, at worst"],
    rows: oracleMeans(rows).map(({ policy, rows, times }) => {
      const over = worst(rows);
      return [policy, number(times), over == null ? "–" : signedPercent(over)];
    }),
  };
}

/** By how much choosing shortens what each other policy takes. */
function scenarios(rows) {
  if (!rows.length) return [];
  const seconds = ({ scenario }) => rows.find((row) => row.scenario === scenario && row.policy === OURS)?.seconds;
  const others = rows.filter((row) => isStatic(row.policy) || row.policy === "ace-2005");
  const data = others.map((row) => ({ ...row, gain_percent: 100 * (1 - seconds(row) / row.seconds) }));
  const caption = "The paper: 89 to 93 % over bzip2, 52 to 79 % over zlib, 8 to 16 % over LZO, 9 to 20 % over never.";
  const title = "What choosing gains over each policy alone";
  return [
    { heading: "Changing scenarios (the paper's Figure 4)" },
    { charts: [{ spec: "ace-gains", title, caption, data }], series: unique(rows.map((row) => row.scenario)) },
  ];
}

/** Tables 2 and 3 and Figures 2 and 3. */
function realLinks(rows) {
  if (!rows.length) return [];
  const isFast = (row) => row.scenario.startsWith("fast");
  const tables = [
    ["fast network", rows.filter(isFast)],
    ["slow network", rows.filter((row) => !isFast(row))],
  ].filter(([, rows]) => rows.length);
  const panels = [...groupBy(rows, (row) => row.scenario)].map(([name, here]) => {
    const data = here.filter((row) => row.file !== "all" && row.seconds != null);
    const caption = "A file begins when the one before is complete.";
    const charts = [{ spec: "ace-files", title: "Time of each file", caption, data }];
    return { name, blocks: [{ charts, series: policies(here), hidden: ["bzip2", "zstd-19"] }] };
  });
  return [
    { heading: "Real links beside real load (the paper's Tables 2 and 3)" },
    ...tables.map(([title, rows]) => ({ table: realTable(title, rows) })),
    { choice: "Files (the paper's Figures 2 and 3)", panels },
  ];
}

/** The paper sent 37 MB, so what counts is the time over that of never. */
function realTable(title, rows) {
  const names = policies(rows);
  return {
    caption: `${title}: seconds; below, times never, and the same in the paper`,
    head: ["network/server/client", ...names],
    rows: [
      ...groupBy(
        rows.filter((row) => row.file === "all"),
        (row) => row.scenario,
      ),
    ].map(([scenario, here]) => {
      const of = (policy) => here.find((row) => row.policy === policy);
      const never = of("never");
      const left = (share) => plain(Math.round(1000 * (share ?? 1)) / 10);
      const shares = `${left(never?.server_cpu_left)} % and ${left(never?.client_cpu_left)} % left`;
      const bytes = `${plain(Math.round((never?.bytes_in ?? 0) / 1024))} KB`;
      const note = never ? `${number(never.network_mbit)} Mbit/s, ${shares}, ${bytes}` : "";
      return [{ text: scenario, note }, ...names.map((policy) => realCell(of(policy), never))];
    }),
  };
}

function realCell(row, never) {
  if (row?.seconds == null) return "–";
  const over = (field) => (row[field] && never?.[field] ? row[field] / never[field] : undefined);
  const [ours, papers] = ["seconds", "paper_seconds"].map(over);
  const note = (ours ? `×${number(ours)}` : "") + (papers ? ` (paper ×${number(papers)})` : "");
  const isJudged = row.over_best != null && !isStatic(row.policy);
  const text = number(row.seconds) + (row.stopped ? "*" : "");
  return { text, note, tone: isJudged ? tone(row.over_best <= NEAR_BEST) : "" };
}

/** Links that open or close a hundredfold. */
function steps(rows) {
  if (!rows.length) return [];
  const title = (row) => `${row.scenario}, ${row.part === "steps" ? "real" : "simulated"}`;
  const panels = [...groupBy(rows, title)].map(([name, here]) => {
    const data = here.flatMap((row) => halfSeconds(row.series ?? []).map((at) => ({ policy: row.policy, ...at })));
    const caption = "Half seconds. The link changes after five seconds.";
    const charts = [{ spec: "ace-steps", title: "What arrives, unpacked", caption, data }];
    return { name, blocks: [{ table: afterStep(here) }, { charts, ...policySeries(here) }] };
  });
  return [{ heading: "A link that opens or closes a hundredfold" }, { choice: "Step", panels }];
}

/** Means of five tenths of a second of a series of bytes. */
function halfSeconds(series) {
  const starts = series.map((_, at) => at).filter((at) => at % 5 === 0);
  return starts.map((at) => {
    const here = series.slice(at, at + 5);
    const bytes = here.reduce((sum, bytes) => sum + bytes, 0);
    return { seconds: at / 10, mb_per_second: bytes / here.length / 1e5 };
  });
}

function afterStep(rows) {
  return {
    caption: "from two seconds after the step on",
    head: ["policy", "MB/s", "behind the best static"],
    rows: rows
      .filter((row) => row.rate_after != null)
      .map((row) => {
        const behind = row.behind_best ?? 0;
        const judged = { note: "at most 10 % are asked for", tone: tone(behind <= NEAR_AFTER_STEP) };
        return [
          row.policy,
          number(row.rate_after),
          { text: signedPercent(behind), ...(row.policy === OURS && judged) },
        ];
      }),
  };
}

/** Figure 1 and the lines of section 4.2. */
function fits(fits) {
  if (!fits.length) return [];
  const table = {
    caption: "lines through blocks of the training files",
    head: ["from", "to", "intercept", "slope", "R²"],
    rows: fits.map((fit) => [fit.x, fit.y, number(fit.intercept), number(fit.slope), number(fit.r2)]),
  };
  const isTime = (fit) => (fit.y.endsWith(" ms") ? "times" : "ratios");
  const panels = [...groupBy(fits, isTime)].map(([name, here]) => ({ name, blocks: [{ charts: here.map(fitChart) }] }));
  return [
    { heading: "Ratio against ratio, and time against ratio (the paper's Figure 1)" },
    { text: FITS },
    { table },
    { choice: "Against ratio", panels },
  ];
}

function fitChart(fit) {
  const line = (x) => fit.intercept + x * fit.slope;
  return {
    spec: "ace-fit",
    title: `${fit.y} by ${fit.x}`,
    caption: `R² ${number(fit.r2)}`,
    data: fit.points.map(([x, y]) => ({ x, y, line: line(x) })),
    axes: { x: fit.x, y: fit.y },
  };
}
