// The experiment `gmc`: bytes per message by technique and trace.
import { OURS, groupBy, minBy, number, plain } from "./rows.js";

const GMC_LEAD = `Messages of each trace go one way, packed by each technique. Less is better; headers are not counted.
The formats whose names begin with hand- are written for these messages.`;

export function gmc(all) {
  // Rows of the part "paper" belong to the paper's tables, which have other fields.
  const rows = all.filter((row) => row.part !== "paper");
  const panels = [...groupBy(rows, conditions)].map(([name, here]) => {
    const traces = groupBy(here, (row) => row.trace);
    const charts = [...traces].map(([trace, data]) => ({ spec: "gmc-bytes", title: trace, data }));
    return { name, blocks: [{ table: bestOf(traces) }, { charts }] };
  });
  return {
    title: "How small do messages get?",
    blocks: [{ text: GMC_LEAD }, { choice: "Mode", panels }],
  };
}

function conditions({ mode, ack_delay, ack_ms, loss }) {
  const parts = [mode];
  if (ack_delay != null) parts.push(`acknowledged ${ack_delay} messages later`);
  if (ack_ms != null) parts.push(`acknowledged ${ack_ms} ms later`);
  if (loss != null) parts.push(`${plain(100 * loss)} % lost`);
  return parts.join(", ");
}

/** Ours beside the best of the others. */
function bestOf(traces) {
  const knowsNoMore = ({ technique }) => !/^hand-|-dict$|^asn1-per$/.test(technique);
  const best = (rows) => {
    const row = minBy(rows, (row) => row.bytes_per_message);
    return row ? `${row.technique} ${number(row.bytes_per_message)}` : "–";
  };
  return {
    caption: "bytes per message",
    head: ["trace", OURS, "best that knows no more", "best of all others"],
    rows: [...traces].map(([trace, rows]) => {
      const others = rows.filter((row) => row.technique !== OURS);
      const ours = rows.find((row) => row.technique === OURS);
      return [trace, number(ours?.bytes_per_message), best(others.filter(knowsNoMore)), best(others)];
    }),
  };
}
