// The experiment `contract`: what channels were promised and got, and what that cost.
import { groupBy, number, percent, plain, tone, unique } from "./rows.js";

const CONTRACT_LEAD = `People draw, drag, type and point in a room, in simulated time: the whole system from application to
application, on paths that lose. A message is missed if it never comes or comes after its deadline, and no newer one of its
key does. Bytes are those on the wire, with the headers of IP, UDP or TCP and QUIC, and acknowledgements.`;

/** The share of JSON's bytes that Groupwire is to stay within. */
const JSON_GOALS = { plain_wire_bytes_per_message: 0.35, aggregated_wire_bytes_per_message: 0.6 };

export function contract(rows) {
  // Rooms, transports and links of a setup stand side by side.
  const setup = (row) =>
    ["rooms", "lossy", "cellular", "canonical"].includes(row.setup) ? row.setup : `${row.setup}, ${row.loss}`;
  const panels = [...groupBy(rows, setup)].map(([name, here]) => ({ name, blocks: contractPanel(here) }));
  return {
    title: "Do channels get what they were promised?",
    blocks: [{ text: CONTRACT_LEAD }, { choice: "Setup", panels }],
  };
}

function contractPanel(rows) {
  if (rows[0].setup === "canonical") return canonical(rows);
  const blocks = [{ table: promises(rows.filter((row) => row.ablation === "none")) }];
  const ablations = groupBy(
    rows.filter((row) => row.plain_wire_bytes_per_message != null),
    (row) => row.ablation,
  );
  if (ablations.size) blocks.push({ table: costs(ablations) });
  const targets = unique(rows.map((row) => row.target));
  const missed = {
    spec: "contract-missed",
    title: "Messages missed",
    caption: "By what was left out of Groupwire.",
    data: rows.map((row) => ({ ...row, name: channelName(row), missed_percent: 100 * row.mer })),
    level: targets.length === 1 ? 100 * targets[0] : undefined,
  };
  const charts = { charts: [missed], series: unique(rows.map((row) => row.ablation)), strong: "none" };
  return [...blocks, charts];
}

/** Which transport supports which type of interaction: a table for each network. */
function canonical(rows) {
  const ways = unique(rows.map((row) => row.transport));
  const isReal = rows.some((row) => row.real);
  const blocks = [];
  for (const [network, here] of groupBy(rows, (row) => row.network)) {
    const cell = (row) => {
      if (!row) return "–";
      const latest = row.p99_ms == null ? "never" : `${row.p99_ms.toFixed(0)} ms`;
      const [note, tone] = row.met ? ["met", "good"] : row.feasible ? ["missed", "bad"] : ["cannot be met", ""];
      return { text: `${percent(row.mer)}, ${latest}`, note, tone };
    };
    for (const real of isReal ? [true, false] : [false]) {
      const of = here.filter((row) => Boolean(row.real) === real);
      if (!of.length) continue;
      const caption = `${network}${real ? ", over sockets" : ", simulated"}: missed, and 99 % within`;
      const lines = [...groupBy(of, (row) => row.channel)].map(([channel, some]) => [
        `${channel} within ${plain(some[0].deadline_ms)} ms`,
        ...ways.map((way) => cell(some.find((row) => row.transport === way))),
      ]);
      blocks.push({ table: { caption, head: ["type", ...ways], rows: lines } });
    }
  }
  return blocks;
}

/** What a row is about, within its setup. Real rows stand beside the simulated ones. */
function channelName(row) {
  const ends = row.chromium ? "over sockets, with Chromium" : "over sockets";
  return row.real ? `${subject(row)}, ${ends}` : subject(row);
}

function subject(row) {
  switch (row.setup) {
    case "rooms":
      return `${row.participants} people: ${row.class}`;
    case "lossy":
      return row.transport;
    case "handover":
      return row.class;
    case "cellular":
      return `${row.link}: ${row.class}`;
    default:
      return row.channel;
  }
}

/** A line per channel, or per class of receivers. */
function promises(rows) {
  return {
    caption: "what was promised and what came of it",
    head: ["channel", "deadline", "may miss", "missed", "99 % within", "bytes a message"],
    rows: rows.map((row) => {
      const [note, verdict] = row.met ? ["met", "good"] : row.feasible ? ["missed", "bad"] : ["cannot be met", ""];
      return [
        channelName(row),
        `${plain(row.deadline_ms)} ms`,
        percent(row.target),
        { text: percent(row.mer), note, tone: verdict },
        row.p99_ms == null ? "–" : `${row.p99_ms.toFixed(0)} ms`,
        number(row.wire_bytes_per_message),
      ];
    }),
  };
}

/** A line per ablation, beside JSON. */
function costs(ablations) {
  return {
    caption: "bytes on the wire, and what they are of JSON's",
    head: ["left out", "bytes a message", "a message per datagram", "a tick per datagram", "a repeat"],
    rows: [...ablations].map(([ablation, [row]]) => {
      const shares = Object.entries(JSON_GOALS).map(([field, goal]) => {
        const share = row.wire_bytes_per_message / row[field];
        const note = `at most ${percent(goal)} are asked for`;
        return ablation === "none" ? { text: percent(share), note, tone: tone(share <= goal) } : percent(share);
      });
      const repeat = row.repeat_bytes == null ? "–" : `${row.repeat_bytes.toFixed(1)} bytes`;
      return [ablation, number(row.wire_bytes_per_message), ...shares, repeat];
    }),
  };
}
