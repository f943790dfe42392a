// Shows a person's pointer in the whiteboard to somebody else, in two windows of a real browser
// with a real server, over an emulated network, and measures in every frame how far the shown
// pointer is from the true one. Prints a row for each scene, and writes into a folder:
// windows.jsonl (the rows, and a line for each frame), windows.html and windows.png (plots), and
// pictures of both windows.
//
// It runs within an emulated network (lab/README.md), as `make windows` does:
//
//   groupwire-lab emulate -- node lab/motion/windows.mjs [FOLDER] --out DIR [--scene NAME] [--transport NAME] [--seconds N] [--skip N]
//
// FOLDER has recordings of pointers as in SapiMouse, of which one is played; without it, or without
// recordings in it, a hand is generated.

import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { pause, until } from "../../web/e2e/wait.mjs";
import { launch } from "../../web/e2e/window.mjs";
import { handOf } from "./windows/hand.mjs";
import { Network } from "./windows/network.mjs";
import { page } from "./windows/page.mjs";
import { Receiver, Sender, VIEW } from "./windows/people.mjs";
import { CALM, SCENES } from "./windows/scenes.mjs";
import { judge } from "./windows/verdict.mjs";

/**
 * What both pages have before anything is measured, in ms: they load what shows others, and measure
 * the path.
 */
const SETTLING = 4000;

/** The movement goes on after the last measured moment, while pictures are taken. */
const AFTER = 10_000;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    out: { type: "string" },
    seconds: { type: "string", default: "60" },
    // The constants of groupwire/motion were chosen with the first three recordings.
    skip: { type: "string", default: "3" },
    scene: { type: "string", multiple: true, default: Object.keys(SCENES) },
    transport: { type: "string", default: "webtransport" },
  },
});
if (!options.out) throw new Error("usage: groupwire-lab emulate -- node lab/motion/windows.mjs [FOLDER] --out DIR");
const length = 1000 * Number(options.seconds);
for (const name of options.scene) if (!SCENES[name]) throw new Error(`no such scene: ${name}`);
const hand = handOf(positionals[0], { skip: Number(options.skip), length: SETTLING + length + AFTER, view: VIEW });
mkdirSync(options.out, { recursive: true });

const network = await Network.start();
const browser = await launch("--disable-backgrounding-occluded-windows", "--disable-renderer-backgrounding");
const [rows, frames] = [[], []];
try {
  for (const name of options.scene) {
    process.stderr.write(`windows: ${name}\n`);
    const measured = await play(name, SCENES[name]);
    rows.push(measured.row);
    frames.push(...measured.frames);
    console.log(JSON.stringify(measured.row));
  }
  const lines = [...rows, ...frames].map((row) => `${JSON.stringify(row)}\n`);
  writeFileSync(join(options.out, "windows.jsonl"), lines.join(""));
  writeFileSync(join(options.out, "windows.html"), await page(rows, frames));
  await picture();
} finally {
  await browser.close();
  network.stop();
}

async function play(name, { first, turns = () => [] }) {
  await Promise.all([0, 1].map((client) => network.path(client, CALM)));
  const url = (client) => {
    const query = new URLSearchParams({ room: name, server: network.server(client), transport: options.transport });
    return `${network.page}/?${query}`;
  };
  const sender = await Sender.open(browser, url(0), "Ada");
  const receiver = await Receiver.open(browser, url(1), "Bo");
  await sender.draw();
  await receiver.objects(2);
  await sender.move(hand.places[0]);
  await until("the pointer is shown", async () => (await receiver.read("pointers")).length === 1);

  const moving = sender.play(hand.places);
  await pause(SETTLING);
  if (first) await Promise.all([0, 1].map((client) => network.path(client, first)));
  await Promise.all([sender.begin(), receiver.begin()]);
  const start = performance.now();
  const moves = [];
  for (const { at, who, to, moves: isMove } of turns(length)) {
    await pause(start + at - performance.now());
    await network.path(who, to);
    if (!isMove) continue;
    await network.move(who);
    moves.push({ at: performance.timeOrigin + performance.now(), who: ["sender", "receiver"][who] });
  }
  await pause(start + length - performance.now());
  const [truth, shown] = await Promise.all([sender.end(), receiver.end()]);
  // Both at once, so that they show the same moment but for the delay.
  const picture = (person) => person.page.screenshot({ path: join(options.out, `${name}-${person.name}.png`) });
  await Promise.all([sender.mark().then(() => picture(sender)), picture(receiver)]);
  sender.isOver = true;
  await moving;
  const errors = [...sender.errors, ...receiver.errors];
  await Promise.all([sender.close(), receiver.close()]);
  // Returns who moved to the first network for the next scene.
  for (const who of ["sender", "receiver"])
    if (moves.filter((move) => move.who === who).length % 2 === 1)
      await network.move(["sender", "receiver"].indexOf(who));
  if (errors.length > 0) throw new Error(`errors in the pages: ${errors.join("; ")}`);
  const conditions = {
    scene: name,
    transport: options.transport,
    hand: hand.name,
    browser: `chromium ${browser.version()}`,
  };
  return judge({ conditions, truth, shown, moves, length });
}

/** The plots as a picture. */
async function picture() {
  const context = await browser.newContext({ viewport: { width: 1150, height: 800 } });
  const sheet = await context.newPage();
  await sheet.goto(pathToFileURL(resolve(options.out, "windows.html")).href);
  await sheet.screenshot({ path: join(options.out, "windows.png"), fullPage: true });
  await context.close();
}
