// The experiment `fairness`: our flow beside the kernel's TCP, and alone.
import { OURS, groupBy, number, plain, tone, unique } from "./rows.js";

const FAIRNESS_LEAD = `One flow of ours that offers 2 Mbit/s, and flows of the kernel's TCP that send as much as they may, through one
emulated link with a drop-tail queue.`;
/** Goals: our part of a fair share, and the wait of our datagrams when we are alone, that in our own endpoint included. */
const LEAST_OF_FAIR = 0.5;
const MOST_OF_FAIR = 1;
const MOST_QUEUE = 50;

export function fairness(rows) {
  const wholes = rows.filter((row) => row.at_s == null);
  const steps = rows.filter((row) => row.at_s != null);
  const panels = [...groupBy(steps, beside)].map(([name, here]) => {
    const of = (series, field) =>
      here.filter((row) => row[field] != null).map((row) => ({ at_s: row.at_s, series, value: row[field] }));
    const others = here[0].flows ? of("one of the others, in the mean", "other_kbit") : [];
    const data = [...of(OURS, "kbit"), ...others];
    const caption = `A link of ${plain(here[0].link_kbit)} kbit/s, ${plain(here[0].rtt_ms)} ms there and back`;
    const blocks = [
      {
        charts: [{ spec: "fairness-time", title: "What arrives", caption, data }],
        series: seriesOf(data),
        strong: OURS,
      },
    ];
    const waits = [...of("half of them", "queue_p50_ms"), ...of("99 of 100", "queue_p99_ms")];
    const queue = `A queue of ${plain(here[0].buffer_ms)} ms before the link; the wait in our own endpoint counts, too`;
    // Rows of older versions have no waits.
    if (waits.length) {
      const title = "How long our datagrams wait";
      blocks.push({ charts: [{ spec: "fairness-wait", title, caption: queue, data: waits }], series: seriesOf(waits) });
    }
    return { name, blocks };
  });
  return {
    title: "What does our flow take beside TCP, and what does it leave?",
    blocks: [{ text: FAIRNESS_LEAD }, { table: shares(wholes) }, { choice: "Others", panels }],
  };
}

const seriesOf = (data) => unique(data.map((row) => row.series));
const beside = (row) => (row.flows ? `${plain(row.flows)} × ${row.control}` : "nobody");

function shares(rows) {
  const fair = (row) => {
    if (!row.flows || row.of_fair == null) return "–";
    const isMet = row.of_fair >= LEAST_OF_FAIR && row.of_fair <= MOST_OF_FAIR;
    return { text: number(row.of_fair), note: "0.5 to 1", tone: tone(isMet) };
  };
  const queue = (row) => {
    if (row.flows || row.queue_p99_ms == null) return number(row.queue_p99_ms ?? 0);
    return { text: number(row.queue_p99_ms), note: `≤ ${MOST_QUEUE}`, tone: tone(row.queue_p99_ms <= MOST_QUEUE) };
  };
  return {
    caption: "below: what is aimed at, and missed or met",
    head: ["beside", "link kbit/s", "ours kbit/s", "one other", "of our fair share", "our datagrams' wait p99 ms"],
    rows: rows.map((row) => [
      beside(row),
      plain(row.link_kbit),
      number(row.kbit),
      row.flows ? number(row.other_kbit) : "–",
      fair(row),
      queue(row),
    ]),
  };
}
