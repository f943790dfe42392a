// The experiment `fanout`: systems side by side, by the number of clients.
import { groupBy, number, plain, tone, unique } from "./rows.js";

const FANOUT_LEAD = `One room in which few send and everybody receives, on one machine with the clients. Batched systems and
those with a tick collect messages before they send them.`;

/** Charts by clients: title and unit of each field. */
const FANOUT_CHARTS = {
  server_us_per_delivery: ["Server time of a delivery", "µs"],
  p99_ms: ["What 99 of 100 deliveries take at most", "ms"],
  wire_bytes_per_delivery: ["On the wire for a delivery, one way", "bytes"],
  delivered: ["Share delivered", "share"],
};

const FANOUT_COLUMNS = {
  delivered: "delivered",
  p50_ms: "p50 ms",
  p99_ms: "p99 ms",
  server_us_per_delivery: "µs per delivery",
  socket_bytes_per_delivery: "socket bytes",
  wire_bytes_per_delivery: "wire bytes",
  kb_per_connection: "KB per idle connection",
  generator_cpu: "generator's CPU",
};

export function fanout(rows) {
  const named = rows.map((row) => ({ ...row, series: `${row.system}, ${plain(row.tick_ms)} ms` }));
  const charts = Object.entries(FANOUT_CHARTS).map(([field, [title, unit]]) => ({
    spec: field === "delivered" ? "fanout-delivered" : "fanout-cost",
    title,
    caption: unit,
    data: named.filter((row) => row[field] != null).map((row) => ({ ...row, value: row[field] })),
  }));
  const sizes = [...groupBy(named, (row) => row.clients)].sort(([one], [other]) => one - other);
  const panels = sizes.map(([clients, here]) => ({ name: plain(clients), blocks: [{ table: systems(here) }] }));
  return {
    title: "What does a delivery cost when everybody receives?",
    blocks: [
      { text: FANOUT_LEAD },
      { charts, series: unique(named.map((row) => row.series)), strong: "groupwire-websocket, 40 ms" },
      { choice: "Clients", panels },
    ],
  };
}

function systems(rows) {
  const cell = (row, field) => {
    const most = row.goals?.[field];
    if (row[field] == null) return "–";
    return most == null
      ? number(row[field])
      : { text: number(row[field]), note: `≤ ${plain(most)}`, tone: tone(row[field] <= most) };
  };
  return {
    caption: "below: what is aimed at, and missed or met",
    head: ["system", ...Object.values(FANOUT_COLUMNS)],
    rows: rows.map((row) => [
      { text: row.series, note: row.version ?? "" },
      ...Object.keys(FANOUT_COLUMNS).map((field) => cell(row, field)),
    ]),
  };
}
