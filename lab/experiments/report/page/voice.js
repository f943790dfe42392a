// The experiment `voice`: what arrives of speech, when, how it sounds and what it costs.
import { OURS, groupBy, number, percent, plain, tone, unique } from "./rows.js";

const VOICE_LEAD = `People talk in frames of 20 ms, by a channel for voice and by other ways, over the same bad networks. A frame is missed if it
has not come when it is to be played. Delays are from mouth to ear.`;
/** What each part is. */
const VOICE_PARTS = {
  call: "a call in simulated time",
  score: "how that call sounds, as real Opus",
  windows: "between two windows of a browser",
  room: "ten of a hundred people talk",
};
/** What is measured of each way, with the goal. Scores are those of ITU-T P.862.2. */
const VOICE_FIGURES = [
  { title: "Frames missed", unit: "missed, %", goal: 2, of: ({ missed }) => missed && 100 * missed },
  { title: "Delay of the slowest hundredth", unit: "ms", goal: 250, of: ({ delay_p99_ms }) => delay_p99_ms },
  { title: "How it sounds", unit: "PESQ, 1 to 4.6", of: ({ score }) => score },
  { title: "Bytes beside those of plain Opus in datagrams", unit: "times", goal: 2, of: ({ times }) => times },
];

export function voice(rows) {
  const panels = [...groupBy(rows, ({ part }) => part)].map(([part, here]) => ({
    name: VOICE_PARTS[part] ?? part,
    blocks: part === "room" ? [{ table: voiceRoom(here) }] : voicePanel(here),
  }));
  return {
    title: "What arrives of speech, and how does it sound?",
    blocks: [{ text: VOICE_LEAD }, { choice: "Measured", panels }],
  };
}

function voicePanel(measured) {
  const plainOf = new Map(measured.filter(({ scheme }) => scheme === "plain").map((row) => [row.network, row.kbit]));
  const rows = measured.map((row) => ({ ...row, times: row.kbit && row.kbit / plainOf.get(row.network) }));
  const charts = VOICE_FIGURES.map(({ title, unit, goal, of }) => {
    const data = rows.map((row) => ({ network: row.network, scheme: row.scheme, value: of(row) }));
    const caption = goal === undefined ? "Higher is better." : `Goal: at most ${plain(goal)}.`;
    const known = data.filter(({ value }) => Number.isFinite(value));
    return { spec: "voice-bars", title, caption, data: known, level: goal, axes: { x: unit } };
  });
  return [
    { table: voiceTable(rows) },
    { charts: charts.filter(({ data }) => data.length), series: unique(rows.map(({ scheme }) => scheme)), strong: OURS },
  ];
}

function voiceTable(rows) {
  const schemes = unique(rows.map(({ scheme }) => scheme));
  const cell = (row) => {
    if (!row) return "–";
    const parts = [
      Number.isFinite(row.missed) && percent(row.missed),
      Number.isFinite(row.delay_p99_ms) && `${number(row.delay_p99_ms)} ms`,
      Number.isFinite(row.score) && `PESQ ${number(row.score)}`,
      Number.isFinite(row.times) && `× ${number(row.times)}`,
    ];
    const text = parts.filter(Boolean).join(", ");
    if (!Number.isFinite(row.missed)) return text;
    const isMet = row.missed <= 0.02 && row.delay_p99_ms <= 250;
    return { text, note: isMet ? "met" : "missed", tone: tone(isMet) };
  };
  const lines = [...groupBy(rows, ({ network }) => network)].map(([network, here]) => [
    network,
    ...schemes.map((scheme) => cell(here.find((row) => row.scheme === scheme))),
  ]);
  return {
    caption: "frames missed, delay p99, score, bytes beside plain; below: at most 2 % missed within 250 ms",
    head: ["network", ...schemes],
    rows: lines,
  };
}

function voiceRoom(rows) {
  return {
    caption: "what a listener's link carries, and the share of a processor that the room takes",
    head: ["speakers passed on", "kbit/s", "share"],
    rows: rows.map((row) => [plain(row.speakers), number(row.listener_kbit), percent(row.server_share)]),
  };
}
