// The tables of docs/deploy/proxies.md that scripts/test-proxies.mjs writes and checks.

import { TRANSPORTS } from "./kinds.mjs";

/** What the names of checks mean, in the words of the page. */
const NAMES = {
  websocket: "WebSocket",
  multipart: "multipart",
  iframe: "iframe",
  longpoll: "longpoll",
  poll: "poll",
  node: "Node: WebSocket",
  webtransport: "WebTransport beside the proxy",
  http2: "HTTP/2 in browsers",
  address: "the server limits each client's address",
  many: "1,100 connections at a time (Apache: 500)",
  through: "WebTransport through the proxy",
  instead: "what a page uses then",
  idle: "idle clients stay connected",
  reload: "a reload loses nothing",
};

/** What fails without a line, in the words of the page. */
const FAILURES = {
  configuration: "the proxy refuses the configuration, or warns",
  start: "nothing listens at the port",
  node: "WebSocket",
  http2: "no HTTP/2",
  address: "clients' addresses",
  many: "many connections at a time",
  reload: "clients stay with the old process",
};

const TABLES = ["works", "lines", "additions"];

const MARK = (name) => [`<!-- ${name}: written by scripts/test-proxies.mjs -->`, `<!-- end of ${name} -->`];

/** The rows of the first table: name of the check, then a cell for each proxy. */
function worksRows(results) {
  const cell = (result) => (result === true ? "yes" : "**no**");
  const names = Object.keys(results[0].works);
  const row = (name, ...cells) => [NAMES[name], ...cells];
  return [
    ...names.map((name) => row(name, ...results.map(({ works }) => cell(works[name])))),
    row("idle", ...results.map(({ idle }) => cell(idle))),
    row("reload", ...results.map(({ reload }) => reloadCell(reload))),
    row("through", ...results.map(({ udp }) => (udp.through === true ? "yes" : "no"))),
    row("instead", ...results.map(({ udp }) => `\`${udp.instead}\``)),
  ];
}

/** `reload` is true if clients came back, false if connections stayed, or says why it failed. */
function reloadCell(reload) {
  if (typeof reload === "string") return "**no**";
  return reload ? "yes, clients come back" : "yes, connections stay";
}

/** A row for each line of a configuration: the checks that fail if the proxy runs without it. */
function lineRows(results) {
  return results.flatMap(({ title, lines }) =>
    lines.map(({ file, line, fails }) => [title, file, `\`${line}\``, failures(fails)]),
  );
}

/** A row for each line that is often added: the checks that fail if the proxy runs with it. */
function additionRows(results) {
  return results.flatMap(({ title, additions }) =>
    additions.map(({ line, without, fails }) => {
      const what = `\`${line}\`${without ? `, ${without.title}` : ""}`;
      return [title, what, failures(fails)];
    }),
  );
}

function failures(fails) {
  if (fails.length === 0) return "nothing fails";
  const carriers = [...TRANSPORTS, "node"];
  const lost = carriers.filter((name) => fails.includes(name));
  // Without WebSocket, the check of addresses cannot say anything.
  const others = fails.filter((name) => !carriers.includes(name) && !(name === "address" && lost.length > 0));
  // If no client gets through, the other checks cannot say anything.
  if (TRANSPORTS.every((name) => fails.includes(name))) return "every transport in browsers";
  const words = [...new Set([...lost, ...others].map((name) => FAILURES[name] ?? NAMES[name]))];
  return words.join(", ");
}

/** The tables, in Markdown. */
export function tables(results) {
  const heads = results.map(({ title, version }) => `${title} ${version}`);
  return [
    rendered(["", ...heads], worksRows(results)),
    rendered(["proxy", "file", "line", "without it fails"], lineRows(results)),
    rendered(["proxy", "added line", "with it fails"], additionRows(results)),
  ];
}

function rendered(head, rows) {
  const line = (cells) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/** The page with new tables. */
export function withTables(page, results) {
  return TABLES.reduce((text, name, i) => {
    const [begin, end] = MARK(name);
    const from = text.indexOf(begin);
    const to = text.indexOf(end);
    if (from < 0 || to < from) throw new Error(`the page has no "${begin}" before "${end}"`);
    return `${text.slice(0, from)}${begin}\n\n${tables(results)[i]}\n\n${text.slice(to)}`;
  }, page);
}

/**
 * How the page differs from the results. Versions may differ, and columns and rows of proxies that
 * were skipped are not compared.
 */
export function differences(page, results) {
  const [works, ...others] = TABLES.map((name) => cellsOf(page, MARK(name)));
  const wrong = [];
  const [head = []] = works;
  for (const row of worksRows(results)) {
    const written = works.find(([name]) => name === row[0]) ?? [];
    results.forEach(({ title }, i) => {
      const cell = written[head.findIndex((cell) => cell.startsWith(title))];
      if (cell !== row[i + 1]) wrong.push(`${title}, ${row[0]}: measured ${row[i + 1]}, written ${cell}`);
    });
  }
  const titles = results.map(({ title }) => title);
  [lineRows(results), additionRows(results)].forEach((rows, i) => {
    const measured = rows.map((row) => row.join(" | "));
    const written = others[i].filter(([title]) => titles.includes(title)).map((row) => row.join(" | "));
    wrong.push(...measured.filter((row) => !written.includes(row)).map((row) => `measured, not written: ${row}`));
    wrong.push(...written.filter((row) => !measured.includes(row)).map((row) => `written, not measured: ${row}`));
  });
  return wrong;
}

/** The cells of the table between two marks, by row. */
function cellsOf(page, [begin, end]) {
  const rows = page.slice(page.indexOf(begin), page.indexOf(end)).split("\n");
  return rows.filter((row) => row.startsWith("| ")).map((row) => row.slice(2, -2).split(" | "));
}
