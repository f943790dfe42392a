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
      ...files(part("files")),
      ...simulatedLinks(scenario(simulated, "link-")),
      ...scenarios("in simulated time", scenario(simulated, "scenario")),
      ...slower(simulated),
      ...realLinks(part("real")),
      ...scenarios("over real links", part("scenarios")),
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

/** Table 1. */
function files(rows) {
  if (!rows.length) return [];
  const kb = (bytes) => plain(Math.round(bytes / 1024));
  const table = {
    caption: "KB of 1,024 bytes",
    head: ["files for", "file", "KB", "KB in the paper", "what it is"],
    rows: rows.map((row) => [
      { training: "training", benchmark: "measuring" }[row.scenario],
      row.file,
      kb(row.bytes_in),
      row.paper_kb == null ? "–" : plain(Math.round(row.paper_kb)),
      row.origin ?? "",
    ]),
  };
  return [{ heading: "Files (the paper's Table 1)" }, { table }];
}

/** By how much choosing shortens what each other policy takes: ours, and the paper's system. */
function scenarios(where, rows) {
  if (!rows.length) return [];
  const caption = "The paper: 89 to 93 % over bzip2, 52 to 79 % over zlib, 8 to 16 % over LZO, 9 to 20 % over never.";
  const chart = (title, field) => {
    const data = rows.filter((row) => row[field] != null && isStatic(row.policy));
    return { spec: "ace-gains", title, caption, data: data.map((row) => ({ ...row, gain_percent: 100 * row[field] })) };
  };
  const charts = [
    chart("What the paper's system gains over each policy alone", "ace_2005_gain"),
    chart("What Groupwire gains over each policy alone", "groupwire_gain"),
  ].filter((chart) => chart.data.length);
  return [
    { heading: `Changing scenarios ${where} (the paper's Figure 4)` },
    { charts, series: unique(rows.map((row) => row.scenario)) },
  ];
}

/** What the paper's system gains with slower processors. */
function slower(rows) {
  const told = rows.filter((row) => row.scenario.includes("scenario") && row.paper_gain);
  if (!told.some((row) => row.scenario.startsWith("slower-"))) return [];
  const what = `What ace-2005 gains over each policy alone, simulated. slower-10: processors a tenth as fast as today's; tables-10: the
same, over links of the rates that the paper's times without compression imply.`;
  const gain = (row) => (row?.ace_2005_gain == null ? "–" : signedPercent(row.ace_2005_gain));
  const range = ([from, to]) => `${plain(100 * from)} to ${plain(100 * to)} %`;
  const policies = unique(told.map((row) => row.policy));
  const table = {
    head: ["scenario", ...policies],
    rows: [
      ["the paper", ...policies.map((policy) => range(told.find((row) => row.policy === policy).paper_gain))],
      ...[...groupBy(told, (row) => row.scenario)].map(([scenario, here]) => [
        scenario,
        ...policies.map((policy) => gain(here.find((row) => row.policy === policy))),
      ]),
    ],
  };
  return [{ heading: "The same with slower processors" }, { text: what }, { table }];
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
    { table: lastColumns(rows) },
    { choice: "Files (the paper's Figures 2 and 3)", panels },
  ];
}

/** The last columns of Tables 2 and 3, whose best and worst are among never, zlib, bzip2 and LZO. */
function lastColumns(rows) {
  const choosers = [OURS, "ace-2005"];
  const fields = [
    ["over the best", "over_best_of_papers", "paper_over_best"],
    ["below the worst", "gain_over_worst", "paper_gain_over_worst"],
    ["below the worst but bzip2", "gain_over_worst_without_bzip2", "paper_gain_over_worst_without_bzip2"],
  ];
  const whole = rows.filter((row) => row.file === "all");
  const percent = (share) => (share == null ? "–" : signedPercent(share));
  return {
    caption: "beside the paper's four policies: never, zlib, bzip2, LZO; in brackets what the paper prints for ACE",
    head: ["network/server/client", ...choosers.flatMap((policy) => fields.map(([title]) => `${policy}: ${title}`))],
    rows: [...groupBy(whole, (row) => row.scenario)].map(([scenario, here]) => [
      scenario,
      ...choosers.flatMap((policy) => {
        const row = here.find((row) => row.policy === policy);
        return fields.map(([, ours, papers]) => {
          const paper = row?.[papers] == null ? "" : ` (${percent(Math.max(0, row[papers]))})`;
          return percent(row?.[ours]) + paper;
        });
      }),
    ]),
  };
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
