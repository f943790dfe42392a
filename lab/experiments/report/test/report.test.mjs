import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { Script } from "node:vm";
import * as vegaLite from "vega-lite";
import { numbers, section, specification } from "../page/page.js";
import { newest, number, signedPercent } from "../page/rows.js";

const read = (path) => JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));
const keys = read("../../keys.json");
const specs = Object.fromEntries(
  readdirSync(new URL("../page/specs", import.meta.url)).map((name) => [
    name.replace(".json", ""),
    read(`../page/specs/${name}`),
  ]),
);

/** Everything in a section that is drawn as a plot, with the options of its legend. */
const charts = (blocks) =>
  blocks.flatMap((block) => [
    ...(block.charts ?? []).map((chart) => ({ ...block, chart })),
    ...(block.panels ?? []).flatMap((panel) => charts(panel.blocks)),
  ]);

/** A section of rows as text, after Vega-Lite has compiled all its plots. */
function shown(experiment, rows) {
  const { blocks } = section(experiment, rows, keys);
  for (const { chart, series, hidden } of charts(blocks).filter(({ chart }) => chart.data.length)) {
    // Bars have steps of one size, so only the width is fitted, about which Vega-Lite warns.
    const warn = (message) => assert.match(message, /^Dropping "fit-y"/);
    const logger = { level: () => logger, error: assert.fail, warn, info: () => logger, debug: () => logger };
    vegaLite.compile(specification(chart, { specs, series, hidden, colour: () => "red", style: {} }), { logger });
    assert.ok(numbers(chart, specs).rows.length > 0, chart.title);
  }
  return JSON.stringify(blocks);
}

test("numbers have three digits and percents a sign", () => {
  const values = [0, 0.01234, 0.5, 9.999, 12.345, 1234.5, -1234567, 1e-7, NaN];
  const texts = ["0", "0.0123", "0.500", "10.0", "12.3", "1,235", "−1,234,567", "1.00e−7", "–"];
  assert.deepEqual(values.map(number), texts);
  assert.deepEqual([0.0001, -0.012, 0.31].map(signedPercent), ["+0.01 %", "−1.20 %", "+31.00 %"]);
});

test("a row measured again counts once, and a quick one never instead of a full one", () => {
  const row = (bytes, quick) => ({ trace: "xml", technique: "lz4", mode: "stream", bytes, quick });
  assert.deepEqual(newest([row(1, false), row(2, false)], keys.gmc), [row(2, false)]);
  assert.deepEqual(newest([row(3, true), row(1, false), row(2, true)], keys.gmc), [row(1, false)]);
});

test("gmc shows ours beside the best of others that know no more", () => {
  const row = (technique, bytes_per_message) => ({
    ...{ trace: "json", mode: "packet3", ack_delay: 10, loss: 0.2, verified: true },
    ...{ technique, bytes_per_message },
  });
  const text = shown("gmc", [row("groupwire", 3.2), row("zstd", 40), row("hand-bits", 3)]);
  assert.match(text, /packet3, acknowledged 10 messages later, 20 % lost/);
  assert.match(text, /"3.20","zstd 40.0","hand-bits 3.00"/);
});

test("cluster shows figures beside their goals, for each engine", () => {
  const row = (part, path, more) => ({ engine: "nats", part, path, rooms: 1, people: 500, verified: true, ...more });
  const text = shown("cluster", [
    row("confirm", "relay", { confirm_p99_ms: 61.25, goals: { confirm_p99_ms: 90 } }),
    row("awareness", "edge", { over_alone: 1.31, goals: { over_alone: 1.2 } }),
    row("kill-owner", null, { engine: "postgres", takeover_p99_s: 4.5, goals: { takeover_p99_s: 5 } }),
  ]);
  assert.match(text, /"text":"61.3","note":"≤ 90","tone":"good"/);
  assert.match(text, /"text":"1.31","note":"≤ 1.2","tone":"bad"/);
  assert.match(text, /"name":"postgres"/);
  assert.doesNotMatch(text, /A join/);
});

test("afec shows each channel with its target", () => {
  const row = (scheme, overhead, mer) => ({
    ...{
      part: "grid",
      channel: "rand10",
      rtt_ms: 50,
      deadline_ms: 250,
      target: 0.05,
      feasible: true,
      windows_met: 0.9,
    },
    ...{ scheme, overhead, mer },
  });
  const text = shown("afec", [row("groupwire", 0.4, 0.04), row("fec-2", 0.6, 0.01), row("fec-3", 1.1, 0.001)]);
  assert.match(text, /50 ms round trip, 250 ms deadline, target 5 %/);
  assert.match(text, /fec-2 to fec-7/);
});

test("web shows the paper's Table 1 and overheads beside ours", () => {
  const row = (transport, measure, value, more) => ({
    ...{ network: "lan", participants: 2, size: 500, tick_ms: 40, app: "puzzle", direction: "down", paper: 40 },
    ...{ transport, measure, value, ...more },
  });
  const rows = [row("websocket", "latency", 12, { adds_ms: 12 }), row("multipart", "overhead_message", 44)];
  const text = shown("web", [...rows, row("websocket", "receive_rate", 2000), row("websocket", "jitter", 2)]);
  assert.match(text, /"websocket","lan","2","latency","12.0","40.0","12.0","40.0"/);
  assert.match(text, /What a message costs, down/);
});

test("web shows rates of numbered messages by browser", () => {
  const row = (engine, measure, size, value) => ({
    ...{ part: "paper", network: "wan", transport: "websocket", engine, measure, size, value },
    ...{ per_trial: 10000, trials: 3 },
  });
  const text = shown("web", [
    row("chromium", "send_rate", 500, 9000),
    row("firefox", "send_rate", 500, 7000),
    row("firefox", "receive_rate", 500, 8000),
    row("firefox", "receive_rate", 5000, 2000),
  ]);
  assert.match(text, /Figure 1: browser to server/);
  assert.match(text, /"websocket, Firefox"/);
  assert.doesNotMatch(text, /Beside the paper's Table 1/);
});

test("contract shows which transport supports which type", () => {
  const row = (channel, transport, met, more) => ({
    ...{ setup: "canonical", network: "man", ablation: "none", channel, transport, met, real: false },
    ...{ feasible: true, mer: met ? 0.001 : 0.6, p99_ms: met ? 80 : null, deadline_ms: 150, ...more },
  });
  const text = shown("contract", [
    row("turns", "webtransport", true),
    row("audio-500", "webtransport", false),
    row("audio-500", "poll", false, { real: true, feasible: false }),
  ]);
  assert.match(text, /"turns within 150 ms",{"text":"0.1 %, 80 ms","note":"met","tone":"good"}/);
  assert.match(text, /"audio-500 within 150 ms",{"text":"60.0 %, never","note":"missed","tone":"bad"}/);
  assert.match(text, /man, over sockets/);
});

test("fanout shows goals that are met and missed", () => {
  const row = (clients, p99_ms) => ({
    system: "groupwire-websocket",
    tick_ms: 40,
    clients,
    p99_ms,
    goals: { p99_ms: 48 },
  });
  const text = shown("fanout", [row(100, 45), row(500, 50)]);
  assert.match(text, /"45.0","note":"≤ 48","tone":"good"/);
  assert.match(text, /"50.0","note":"≤ 48","tone":"bad"/);
});

test("fairness shows shares and queues, and what arrives in time", () => {
  const row = (flows, at_s, of_fair, queue_p99_ms) => ({
    ...{ control: flows ? "cubic" : null, flows, link_kbit: 4000, rtt_ms: 50, buffer_ms: 100 },
    ...{ at_s, kbit: 1500, other_kbit: flows ? 2300 : null, of_fair, queue_p99_ms },
  });
  const text = shown("fairness", [row(0, null, 1, 40), row(2, null, 1.2, 90), row(2, 0.5), row(2, 1)]);
  assert.match(text, /"nobody","4,000","1,500","–","–",{"text":"40.0","note":"≤ 50","tone":"good"}/);
  assert.match(text, /"2 × cubic","4,000","1,500","2,300",{"text":"1.20","note":"0.5 to 1","tone":"bad"},"90.0"/);
  assert.match(text, /one of the others, in the mean/);
  assert.doesNotMatch(text, /How long our datagrams wait/);
  const waits = shown("fairness", [{ ...row(2, 0.5, null, 95), queue_p50_ms: 70 }]);
  assert.match(waits, /"at_s":0.5,"series":"half of them","value":70/);
  assert.match(waits, /"at_s":0.5,"series":"99 of 100","value":95/);
  // A chart shows the series that its block names, and no others.
  assert.match(waits, /"series":\["groupwire","one of the others, in the mean"\]/);
  assert.match(waits, /"series":\["half of them","99 of 100"\]/);
});

test("contract shows promises, and what is left out beside JSON", () => {
  const row = (ablation, mer, met) => ({
    ...{ setup: "table1", loss: "rand20", channel: "telepointer", target: 0.2, deadline_ms: 100, feasible: true },
    ...{ wire_bytes_per_message: 30, plain_wire_bytes_per_message: 100, aggregated_wire_bytes_per_message: 60 },
    ...{ ablation, mer, met, p99_ms: null, repeat_bytes: 3.5 },
  });
  const real = { ...row("none", 0.12, true), real: true, plain_wire_bytes_per_message: null };
  const text = shown("contract", [row("none", 0.1, true), real, row("no-afec", 0.3, false)]);
  assert.match(text, /"telepointer, over sockets"/);
  assert.match(text, /"10.0 %","note":"met","tone":"good"/);
  assert.match(text, /"30.0 %","note":"at most 35.0 % are asked for","tone":"good"/);
  assert.match(text, /"no-afec","30.0","30.0 %","50.0 %","3.5 bytes"/);
});

test("lossless shows the paper's figures, who leads, and what auto chose", () => {
  const rows = [];
  for (const link_mbit of [10, 100, 1000]) {
    for (const hops of [0, 1]) {
      for (const size of [500, 700, 1000, 1400]) {
        for (const [codec, gain] of Object.entries({ none: 1, lz4: 1.2, "zstd-1": 1.1, zstd: 1.15, auto: 1.19 })) {
          const picked = codec === "auto" ? { lz4: 0.7, none: 0.3 } : null;
          const effective_mbit = 0.7 * link_mbit * gain;
          const more = { ratio: 1.5, memory_bytes: 16384, messages: 20000, picked, verified: true };
          rows.push({ part: "pingpong", payload: "telecom", codec, link_mbit, hops, size, effective_mbit, ...more });
        }
      }
    }
  }
  rows.push({ part: "throughput", payload: "telecom", codec: "none", link_mbit: 1000, hops: 1, effective_mbit: 940 });
  const text = shown("lossless", rows);
  for (let figure = 4; figure <= 10; figure++) assert.match(text, new RegExp(`Figure ${figure}\\b`));
  assert.match(text, /"figure":"24 of 24"/);
  assert.match(text, /auto −0.83 %, mostly lz4/);
  assert.match(text, /"1,000 Mbit\/s, one switch","940"/);
  const { blocks } = section("lossless", rows, keys);
  assert.deepEqual(charts(blocks)[0].hidden, ["zstd-1"]);
});

test("ace shows goals, the paper's tables and figures, steps and lines", () => {
  const row = (part, scenario, file, policy, seconds) => ({
    ...{ part, scenario, file, policy, seconds, network_mbit: 71, server_cpu_left: 1, client_cpu_left: 0.25 },
    ...{ over_best: seconds - 1, over_oracle: seconds - 0.9, bytes_in: 1000, paper_seconds: 2 * seconds },
  });
  const cell = (policy, seconds) => row("simulated", "link-71/cpu-1/cpu-0.25", "all", policy, seconds);
  const real = (file, policy, seconds) => row("real", "fast/idle/idle", file, policy, seconds);
  const series = [100_000, 200_000, 0, 300_000, 100_000, 100_000];
  const step = { ...row("steps", "step-up", "mixed", "groupwire", 15), series, rate_after: 2, behind_best: 0.02 };
  const line = {
    x: "lzo ratio",
    y: "zlib ratio",
    slope: 0.8,
    intercept: 0.1,
    r2: 0.97,
    points: [
      [0.1, 0.2],
      [0.9, 0.8],
    ],
  };
  const text = shown("ace", [
    ...[cell("groupwire", 1.02), cell("lz4", 1), cell("never", 3), cell("oracle", 0.9)],
    ...[real("all", "never", 3), real("xml", "never", 1), real("all", "groupwire", 1.2), real("xml", "groupwire", 0.4)],
    ...[
      row("simulated", "scenario1", "all", "groupwire", 1),
      { ...row("simulated", "scenario1", "all", "lzo", 2), groupwire_gain: 0.5 },
    ],
    ...[step, { ...row("fits", "training", "all", "zlib", 0), fit: line }],
  ]);
  assert.match(text, /"1 of 1"/);
  assert.match(text, /server 100 %, client 25 % left/);
  assert.match(text, /×0.400 \(paper ×0.400\)/);
  assert.match(text, /Figures 2 and 3.*step-up, real.*at most 10 % are asked for.*zlib ratio by lzo ratio/);
  assert.match(text, /"gain_percent":50/);
});

test("rows that failed are left out and counted", () => {
  const row = { trace: "xml", technique: "lz4", mode: "stream", bytes_per_message: 99, verified: false };
  const text = shown("gmc", [row, { ...row, technique: "zstd", bytes_per_message: 5, verified: true }]);
  assert.match(text, /not what was sent: 1 of 2 rows/);
  assert.doesNotMatch(text, /99/);
});

test("no two scripts have a name in common, as they are joined to one", () => {
  const names = readdirSync(new URL("../page", import.meta.url)).filter((name) => name.endsWith(".js"));
  const scripts = names.map((name) => readFileSync(new URL(`../page/${name}`, import.meta.url), "utf8"));
  const lines = scripts.flatMap((script) => script.split("\n")).filter((line) => !line.startsWith("import "));
  assert.ok(new Script(lines.map((line) => line.replace(/^export /, "")).join("\n")));
});

test("the page has a place for everything that is put into it", () => {
  const page = readFileSync(new URL("../page/page.html", import.meta.url), "utf8");
  for (const place of ["style", "script", "libraries", "data"])
    assert.equal(page.split(`{{${place}}}`).length, 2, `{{${place}}} has to be in page.html once, as it is`);
});

test("voice shows what each way missed, beside what is aimed at, and how it sounds", () => {
  const row = (part, scheme, more) => ({ part, scheme, network: "rand20", ...more });
  const text = shown("voice", [
    row("call", "groupwire", { missed: 0.01, delay_p99_ms: 236, kbit: 90 }),
    row("call", "plain", { missed: 0.36, delay_p99_ms: 92, kbit: 50 }),
    row("score", "groupwire", { score: 2.93, missed: null, delay_p99_ms: null }),
    row("room", "groupwire", { speakers: 4, listener_kbit: 100, server_share: 0.01 }),
  ]);
  assert.match(text, /"1.0 %, 236 ms, × 1.80","note":"met","tone":"good"/);
  assert.match(text, /"36.0 %, 92.0 ms, × 1.00","note":"missed","tone":"bad"/);
  assert.match(text, /PESQ 2.93/);
  assert.match(text, /"4","100","1.0 %"/);
});
