// What a page must not look like: texts that cannot be read, controls without a name and what else
// axe finds, links in the browser's own blue, panels that the drawing shines through, axes with a
// label twice, and pages wider than their window.

import { violations } from "./axe.mjs";

/** Runs in the page. Returns a line for each fault that axe does not know. */
function faults() {
  const found = new Set();
  for (const element of [...deep(document.documentElement)].filter((one) => one.checkVisibility())) {
    checkLink(element);
    checkPanel(element);
    checkAxis(element);
  }
  const { scrollWidth } = document.documentElement;
  if (scrollWidth > innerWidth) found.add(`the page is ${scrollWidth - innerWidth} px too wide`);
  return [...found];

  /** All elements, those in shadow roots included. */
  function* deep(element) {
    yield element;
    for (const child of [...(element.shadowRoot?.children ?? []), ...element.children]) yield* deep(child);
  }

  function checkLink(element) {
    // The colours of links that no style sheet has styled, in light and in dark.
    const own = ["rgb(0, 0, 238)", "rgb(85, 26, 139)", "rgb(158, 158, 255)", "rgb(208, 173, 240)"];
    if (element.tagName === "A" && own.includes(getComputedStyle(element).color)) {
      found.add(`the link “${element.innerText}” has the browser's colour`);
    }
  }

  /** What covers the drawing and has sentences must be opaque. */
  function checkPanel(element) {
    if (!element.matches(".panel-card, .help, .rename, .solved, .question, .glossary")) return;
    const [, , , alpha = "1"] = getComputedStyle(element).backgroundColor.match(/[\d.]+/g);
    if (Number(alpha) < 1) found.add(`what is below shines through .${element.className.replaceAll(" ", ".")}`);
  }

  function checkAxis(element) {
    if (!element.matches(".axis, .scale")) return;
    const labels = [...element.children].map(({ innerText }) => parseFloat(innerText));
    if (new Set(labels).size < labels.length) found.add(`an axis has the labels ${labels.join()}`);
  }
}

/** Light and dark, wide and on a phone. axe checks each scheme and each width once. */
const LOOKS = [
  { colorScheme: "light", width: 1280, height: 860, hasAxe: true },
  { colorScheme: "dark", width: 1280, height: 860, hasAxe: false },
  { colorScheme: "light", width: 390, height: 844, hasAxe: false },
  { colorScheme: "dark", width: 390, height: 844, hasAxe: true },
];

/** Elements that show inactive users paler on purpose. */
const PALE = ["gw-avatars", "gw-cursors"];

/** The faults of a page in all looks. `shot` takes a picture of each. */
export async function faultsOf(page, shot = async () => {}) {
  const found = [];
  for (const { colorScheme, width, height, hasAxe } of LOOKS) {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    // The page has heard of the new size and colours, and has drawn with them.
    await page.waitForFunction((wanted) => matchMedia(`(prefers-color-scheme: ${wanted})`).matches, colorScheme);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    const name = `${colorScheme}-${width}`;
    await shot(name);
    const here = await page.evaluate(`(${faults})()`);
    if (hasAxe) here.push(...(await violations(page, PALE)));
    found.push(...here.map((fault) => `${name}: ${fault}`));
  }
  return found;
}
