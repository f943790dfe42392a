// The experiment `web`: latency, rates and overheads by transport and network.
import { groupBy, number, unique } from "./rows.js";

const TRANSPORTS = ["webtransport", "websocket", "multipart", "iframe", "longpoll", "poll", "socket"];
/** Round trips of the paper's networks (Methods), in ms. */
const PAPERS_ROUND_TRIPS = { lan: 0, man: 96, wan: 48 };
const WEB_LEAD = `Messages go from one browser to another through the server, over each transport, through an emulated
network.`;

const NUMBERED_LEAD = `10,000 numbered messages as fast as possible, in 10 trials, or fewer where the link is slow or trials agree;
all have to come, once, in order and unchanged. Messages per second from the first until the last has come.`;

export function web(all) {
  const isNumbered = (row) => row.part === "paper" && ["send_rate", "receive_rate"].includes(row.measure);
  const [numbered, rows] = [all.filter(isNumbered), all.filter((row) => !isNumbered(row)).map(named)];
  const panels = [...groupBy(rows, (row) => row.network)].map(([name, here]) => ({ name, blocks: network(here) }));
  const blocks = [{ text: WEB_LEAD }];
  if (panels.length) blocks.push({ choice: "Network", panels });
  if (numbered.length) blocks.push({ heading: "The paper's Figures 1 to 3" }, ...numberedRates(numbered));
  const papers = rows.filter((row) => row.paper != null && ["latency", "jitter"].includes(row.measure));
  if (papers.length) {
    blocks.push(
      { heading: "Beside the paper's Table 1" },
      {
        text: `Its networks were not ours: compare what is added to the path. It derived latencies from round trips and does not say
whether they are half of one: where its ping is longer than its latency, they are.`,
      },
    );
    blocks.push({ table: besideThePaper(papers) });
  }
  return { title: "How fast do messages get from browser to browser?", blocks };
}

/** A row whose transport names the browser, too, if it is not the usual one. */
function named(row) {
  const of = [row.transport, row.system === "bare" && "bare", row.engine === "firefox" && "Firefox"];
  return { ...row, transport: of.filter(Boolean).join(", ") };
}

/** Rates of numbered messages, by network. */
function numberedRates(rows) {
  const panels = [...groupBy(rows, (row) => row.network)].map(([name, here]) => {
    const standard = (measure) => here.filter((row) => row.measure === measure && row.size === 500);
    const transport = (row) => (row.system === "bare" ? `${row.transport}, bare` : row.transport);
    const data = (measure) => standard(measure).map((row) => ({ ...row, transport: transport(row) }));
    const bars = (title, measure) => ({ spec: "web-rate", title, data: data(measure) });
    const engines = unique(here.map((row) => row.engine));
    const sizes = here.filter((row) => row.measure === "receive_rate").map(named);
    const title = "Figure 3: server to browser, by size of messages";
    return {
      name,
      blocks: [
        {
          charts: [
            bars("Figure 1: browser to server, 500 bytes", "send_rate"),
            bars("Figure 2: server to browser, 500 bytes", "receive_rate"),
          ].filter(({ data }) => data.length),
          series: engines,
        },
        {
          charts: [{ spec: "web-receive-rate", title, data: sizes }],
          series: unique(sizes.map((row) => row.transport)),
        },
      ],
    };
  });
  return [{ text: NUMBERED_LEAD }, { choice: "Network", panels }];
}

function network(rows) {
  const of = (measure) => rows.filter((row) => row.measure === measure);
  const times = ["latency", "jitter"].flatMap((measure) =>
    [...groupBy(of(measure), (row) => `${measure}: ${row.app}, tick ${row.tick_ms} ms`)].map(([title, data]) => ({
      spec: "web-time",
      title,
      data,
    })),
  );
  const rates = of("receive_rate").filter((row) => row.value > 0);
  if (rates.length) {
    const caption = "Distinct arrivals of a value that changes all the time.";
    times.push({ spec: "web-receive-rate", title: "Rate at which a participant receives", caption, data: rates });
  }
  const names = unique(rows.map((row) => row.transport));
  const series = TRANSPORTS.flatMap((name) => [name, `${name}, Firefox`]).concat(
    names.filter((name) => !TRANSPORTS.includes(name.split(",")[0])),
  );
  return [{ charts: times, series: series.filter((name) => names.includes(name)) }, overheads(rows)];
}

/** Bars for each direction, with the paper's beside ours where it has any. */
function overheads(rows) {
  const what = { overhead_connection: "joining", overhead_message: "a message" };
  const here = rows.filter((row) => row.measure in what);
  const title = (row) => `What ${what[row.measure]} costs${row.direction ? `, ${row.direction}` : ""}`;
  const charts = [...groupBy(here, title)].map(([title, rows]) => {
    const bars = (series, field) => rows.map((row) => ({ transport: row.transport, series, bytes: row[field] }));
    const data = [...bars("here", "value"), ...bars("in the paper", "paper")].filter((bar) => bar.bytes != null);
    return { spec: "web-overhead", title, caption: "Beyond the message itself, above TCP or UDP.", data };
  });
  return { charts, series: ["here", "in the paper"] };
}

function besideThePaper(rows) {
  return {
    caption: "ms; added: beyond the round trip of the path",
    head: ["transport", "network", "participants", "measure", "here", "paper", "added here", "added in the paper"],
    rows: rows.map((row) => {
      const added =
        row.adds_ms == null ? ["–", "–"] : [row.adds_ms, row.paper - (PAPERS_ROUND_TRIPS[row.network] ?? 0)];
      const figures = [row.value, row.paper, ...added].map((value) => (value === "–" ? value : number(value)));
      return [row.transport, row.network, String(row.participants), row.measure, ...figures];
    }),
  };
}
