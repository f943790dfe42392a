// The experiment `afec`: messages missed against what that costs, by scheme, on each channel.
import { OURS, groupBy, mean, number, plain, unique } from "./rows.js";

const AFEC_LEAD = `Each scheme on each channel: how many messages miss their deadline, and how many bytes more than plain
UDP it sends. Left and below the line of the target is best. The part grid only, without its small messages.`;

export function afec(rows) {
  const grid = rows.filter((row) => row.part === "grid" && !row.real && row.message_bytes == null);
  const path = (row) =>
    `${plain(row.rtt_ms)} ms round trip, ${plain(row.deadline_ms)} ms deadline, target ${plain(100 * row.target)} %`;
  const panels = [...groupBy(grid, path)].map(([name, here]) => ({
    name,
    blocks: [{ table: schemeMeans(here) }, channelCharts(here)],
  }));
  const shown = panels.length ? { choice: "Path", panels } : { text: "There are no rows of that part." };
  return { title: "Which messages miss their deadline?", blocks: [{ text: AFEC_LEAD }, shown] };
}

/** The scheme, and what a repeat is counted as if that is not its length. */
const schemeName = (row) => (row.repeat_bytes == null ? row.scheme : `${row.scheme}, ${row.repeat_bytes} B`);

/** Means over the channels on which the target can be met. */
function schemeMeans(rows) {
  const feasible = [
    ...groupBy(
      rows.filter((row) => row.feasible),
      schemeName,
    ),
  ].sort();
  return {
    caption: "means over the channels on which a static code meets the target",
    head: ["scheme", "channels", "missed", "windows within target", "overhead"],
    rows: feasible.map(([name, rows]) => [
      name,
      String(rows.length),
      ...["mer", "windows_met", "overhead"].map((field) => `${number(100 * mean(rows.map((row) => row[field])))} %`),
    ]),
  };
}

/** Codes fec-2 to fec-7 are one line. TCP, which misses most of all where packets get lost, is not shown at first. */
function channelCharts(rows) {
  const data = rows.map((row) => {
    const name = schemeName(row);
    const series = name.startsWith("fec-") ? "fec-2 to fec-7" : name;
    return { ...row, series, overhead_percent: 100 * row.overhead, missed_percent: 100 * row.mer };
  });
  const series = unique(data.map((row) => row.series));
  series.sort((one, other) => (other === OURS) - (one === OURS));
  const charts = [...groupBy(data, (row) => row.channel)].map(([channel, data]) => ({
    spec: "afec-overhead",
    title: channel,
    caption: data.some((row) => row.feasible) ? "" : "No static code meets the target.",
    data,
    level: 100 * data[0].target,
  }));
  return { charts, series, hidden: ["tcp"] };
}
