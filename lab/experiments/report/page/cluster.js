// The experiment `cluster`: several servers that share their rooms.
import { groupBy, number, plain, tone } from "./rows.js";

const CLUSTER_LEAD = `Three servers that share their rooms over an engine, all on one machine with the clients. Costs are processor
time; what servers use when nothing is sent is not counted.`;

/** Tables: the parts of the experiment that each shows, its heading, and its columns. */
const CLUSTER_TABLES = [
  {
    parts: ["confirm"],
    caption: "Until a transaction is confirmed",
    columns: {
      confirm_p50_ms: "p50 ms",
      confirm_p99_ms: "p99 ms",
      fdatasync_p99_ms: "a sync of the disk p99 ms",
      confirmed: "confirmed",
    },
  },
  {
    parts: ["kill-owner", "kill-leader", "drain", "pause"],
    caption: "Until people of a server that ended are confirmed again",
    columns: {
      rounds: "rounds",
      takeover_p50_s: "p50 s",
      takeover_p99_s: "p99 s",
      takeover_max_s: "longest s",
      confirmed: "confirmed",
      lost: "lost",
    },
  },
  {
    parts: ["awareness", "transactions", "rooms"],
    caption: "A delivery at the owner of a room, through another server, and of a server alone",
    columns: {
      us_per_delivery: "µs",
      owner_us_per_delivery: "the owner's µs",
      edge_us_per_delivery: "the edge's µs",
      over_direct: "over direct",
      over_alone: "over a server alone",
    },
  },
  {
    parts: ["edges"],
    caption: "The owner's processors, with people there or behind other servers",
    columns: {
      owner_cpu: "processors",
      share_of_serving: "further people, of the cost of serving them",
      p99_ms: "p99 ms",
    },
  },
  {
    parts: ["joins"],
    caption: "A join",
    columns: {
      us_per_join: "µs",
      owner_us_per_join: "the owner's µs",
      edge_us_per_join: "the edge's µs",
      three_over_one: "joins of three servers over one",
    },
  },
  {
    parts: ["large"],
    caption: "One room over three servers",
    columns: {
      delivered: "delivered",
      p99_ms: "p99 ms",
      owner_cpu: "the owner's processors",
      edge_cpu: "an edge's",
      rss_mb: "the owner's MiB",
      edge_rss_mb: "an edge's",
      join_s: "all joined after s",
    },
  },
];

export function cluster(rows) {
  const engines = [...groupBy(rows, (row) => row.engine)];
  const panels = engines.map(([name, here]) => ({
    name,
    blocks: CLUSTER_TABLES.flatMap((table) => {
      const shown = here.filter((row) => table.parts.includes(row.part));
      return shown.length ? [{ table: clusterTable(table, shown) }] : [];
    }),
  }));
  return {
    title: "What do several servers cost, and how soon do they stand in for each other?",
    blocks: [{ text: CLUSTER_LEAD }, { choice: "Engine", panels }],
  };
}

function clusterTable({ caption, columns }, rows) {
  const cell = (row, field) => {
    const most = row.goals?.[field];
    if (row[field] == null) return "–";
    return most == null
      ? number(row[field])
      : { text: number(row[field]), note: `≤ ${plain(most)}`, tone: tone(row[field] <= most) };
  };
  const size = ({ rooms, people }) =>
    [rooms && `${plain(rooms)} rooms`, people && `${plain(people)} people`].filter(Boolean);
  return {
    caption,
    head: ["", ...Object.values(columns)],
    rows: rows.map((row) => [
      { text: [row.part, row.path].filter(Boolean).join(", "), note: size(row).join(" of ") },
      ...Object.keys(columns).map((field) => cell(row, field)),
    ]),
  };
}
