// The queries that the Grafana dashboard and the alert rules send to Prometheus.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const DASHBOARD = fileURLToPath(new URL("../packaging/grafana/groupwire.json", import.meta.url));

/**
 * All queries of a dashboard: { panel, query }. A panel without queries, or a query of another data
 * source, is an error.
 */
export function queries(dashboard) {
  const panels = dashboard.panels.filter(({ type }) => type !== "row");
  return panels.flatMap(({ title, datasource, targets }) => {
    if (!targets?.length) throw new Error(`the panel "${title}" has no query`);
    if (datasource.uid !== "${datasource}") throw new Error(`the panel "${title}" has a data source of its own`);
    return targets.map(({ expr }) => ({ panel: title, query: expr }));
  });
}

/** Reads the dashboard's queries. */
export function readQueries() {
  return queries(JSON.parse(readFileSync(DASHBOARD, "utf8")));
}

/** The query as Prometheus gets it: over all servers, with rates over `range`. */
export function filled(query, range) {
  const values = { $__rate_interval: range, $job: ".+", $instance: ".+" };
  return query.replaceAll(/\$\w+/g, (name) => {
    if (!(name in values)) throw new Error(`unknown variable ${name} in ${query}`);
    return values[name];
  });
}

/** The names of samples in an answer to GET /metrics. */
export function sampleNames(metrics) {
  const lines = metrics.split("\n").filter((line) => line && !line.startsWith("#"));
  return new Set(lines.map((line) => /^\w+/.exec(line)[0]));
}

/** The names of server metrics in a query that `known` lacks. */
export function unknownNames(query, known) {
  return [...new Set(query.match(/\bgroupwire_\w+/g))].filter((name) => !known.has(name));
}
