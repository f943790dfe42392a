// Plots by Vega-Lite, which the laboratory's report uses, too.

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(new URL("../experiments/report/package.json", import.meta.url));
const load = (name) => import(pathToFileURL(require.resolve(name)).href);

/** The picture of a specification, as SVG. */
export async function draw(spec) {
  const [vega, lite] = [await load("vega"), await load("vega-lite")];
  return new vega.View(vega.parse(lite.compile(spec).spec), { renderer: "none" }).toSVG();
}
