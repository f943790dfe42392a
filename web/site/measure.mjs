// Measures pages of target/site in Chromium, with an empty cache, at 1.6 Mbit/s and with a round
// trip of 150 ms: a line of JSON for each page.
//
// GROUPWIRE_BROWSER=$(scripts/browser.sh) node web/site/measure.mjs

import { launch } from "../e2e/window.mjs";
import { serve } from "./test/host.mjs";

const NETWORK = { offline: false, latency: 150, downloadThroughput: 1.6e6 / 8, uploadThroughput: 1.6e6 / 8 };
const PAGES = ["/", "/guide/first-room", "/demos"];
/** Single measurements vary by some ten milliseconds, so the median of several is shown. */
const REPEATS = 5;

const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];

const host = await serve();
const browser = await launch();
for (const path of PAGES) {
  const runs = [];
  for (let run = 0; run < REPEATS; run++) runs.push(await measure(path));
  const figures = Object.keys(runs[0]).map((name) => [name, median(runs.map((one) => one[name]))]);
  console.log(JSON.stringify({ page: path, ...Object.fromEntries(figures) }));
}
await browser.close();
host.close();

/**
 * { bytes, requests, painted_ms, interactive_ms }: what was transferred with its headers, when the
 * first text was painted, and when the page's program had taken over its buttons and menus.
 */
async function measure(path) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  await devtools.send("Network.enable");
  await devtools.send("Network.setCacheDisabled", { cacheDisabled: true });
  await devtools.send("Network.emulateNetworkConditions", NETWORK);
  let bytes = 0;
  let requests = 0;
  devtools.on("Network.loadingFinished", ({ encodedDataLength }) => {
    bytes += encodedDataLength;
    requests++;
  });
  await page.goto(host.url + path, { waitUntil: "commit" });
  const interactive = await page.waitForFunction(
    () => document.querySelector(".VPSwitchAppearance")?.title && performance.now(),
  );
  const interactive_ms = Math.round(await interactive.jsonValue());
  await page.waitForLoadState("networkidle");
  const paint = await page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime);
  const painted_ms = Math.round(await paint.jsonValue());
  await context.close();
  return { bytes, requests, painted_ms, interactive_ms };
}
