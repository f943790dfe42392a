// All codecs, chosen in the whiteboard's panel while people draw.

import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { Board } from "./board.mjs";
import { Stage } from "./stage.mjs";
import { pause, until } from "./wait.mjs";

const options = { timeout: 600_000 };

/** For what needs several rounds of drawing, each of which takes seconds on a busy machine. */
const ROUNDS_MS = 120_000;
const WAVE = [
  [200, 300],
  [260, 220],
  [340, 380],
  [420, 240],
];

/** Long enough for every codec to make it smaller. */
const NOTES = [...Array(12).keys()].map((n) => `${n}. What was said, by whom, and what is to be done about it.`);

/**
 * Texts per measurement: enough that the first text, from which `template` learns, no longer
 * decides the average.
 */
const TEXTS = 6;

/**
 * Bytes of an average message at which texts outweigh the pointer positions that the clicks on the
 * board cause.
 */
const MEAN_OF_TEXTS = 200;

/** The panel takes its figures twice a second, and leaves out three after a change of the codec. */
const LOOK_MS = 500;
const UNSETTLED_MS = 3 * LOOK_MS;

/** The codecs that need nothing but the core come first. */
const OWN = ["template", "off", "lz4"];
/** Codecs that find nothing to compress in JSON and leave it as it is. */
const IDLE = ["rle", "null"];

const stage = new Stage(Board, "--codecs", "all");

/** Opens a window with its panel. `fetched` counts the requests for modules with codecs. */
async function open(room, name, settings) {
  const board = await stage.open(room, name, settings);
  board.fetched = 0;
  board.page.on("request", (request) => {
    if (isCodecs(new URL(request.url()))) board.fetched += 1;
  });
  await board.page.getByTestId("panel-toggle").click();
  return board;
}

function isCodecs({ pathname }) {
  return /wasm_(codecs|brotli)/.test(pathname) && pathname.endsWith(".wasm");
}

/** Draws a line, and replaces the text at `top`, which only this board edits. */
async function work(board, line, top, round) {
  await board.choose("pen");
  await board.drag(line, 4);
  await write(board, top, round);
}

/** Replaces the text at `top`. */
async function write(board, top, round) {
  await board.choose("text");
  await board.page.mouse.click(200, top);
  await board.page.getByTestId("text-editor").fill([`Round ${round}`, ...NOTES].join(" "));
  await board.page.keyboard.press("Escape");
}

const choice = (board) => board.page.getByTestId("compress-choice");
const text = (board, testid) => board.page.getByTestId(testid).innerText();

/** Bytes per message in a cell of the panel's table; NaN while the panel has no message to show. */
async function bytes(board, cell) {
  return Number.parseFloat(await text(board, `panel-${cell}`));
}

/**
 * Bytes per message on the wire when `board` writes the same texts by the codec `name`, and does
 * nothing else. The panel averages over all messages of the last seconds, and a pointer position
 * has about 20 bytes, a text about 800: averages compare codecs only if the messages are the same.
 */
async function measure(board, name, top) {
  await choice(board).selectOption(name);
  await until("the panel begins anew", async () => Number.isNaN(await bytes(board, "up-after")));
  let [written, counted] = [0, 0];
  const isCounted = async () => {
    await write(board, top, (written += 1));
    // The panel leaves out what was sent while the setting changed.
    if (Number.isNaN(await bytes(board, "up-after"))) return false;
    counted += 1;
    return counted >= TEXTS && (await bytes(board, "up-before")) >= MEAN_OF_TEXTS;
  };
  await until(`the panel shows texts by ${name}`, isCounted, ROUNDS_MS);
  return bytes(board, "up-after");
}

/**
 * Ada and Bo draw by these codecs, one after the other, until both panels show the codec in both
 * directions.
 */
async function drawBy(names, ada, bo) {
  let drawn = 0;
  for (const name of names) {
    await Promise.all([ada, bo].map((board) => choice(board).selectOption(name)));
    // The panels count nothing before, so drawing would only keep the processors busy.
    await pause(UNSETTLED_MS);
    const isCounted = async () => {
      const to = (x) => WAVE.map(([left, top]) => [left + x, top + (drawn % 9)]);
      await Promise.all([work(ada, to(0), 500, drawn), work(bo, to(60), 580, drawn)]);
      drawn += 2;
      await pause(LOOK_MS);
      const [here, there] = await Promise.all([text(ada, "compress-why"), text(bo, "compress-why")]);
      const each = await Promise.all([bytes(ada, "up-after"), bytes(bo, "down-after")]);
      return [here, there].every((why) => says(why, name)) && each.every((mean) => mean > 0);
    };
    await until(`both draw by ${name}`, isCounted, ROUNDS_MS);
    if (name === OWN.at(-1)) assert.deepEqual([ada.fetched, bo.fetched], [0, 0], "loaded before it was needed");
    // The lines and the two texts; the last edit of a text may still be on its way.
    await until(`both see the same by ${name}`, async () => {
      const [here, there] = await Promise.all([ada, bo].map((board) => board.objects(drawn + 2)));
      return isDeepStrictEqual(here, there);
    });
  }
  // Most codecs are one module, brotli is another.
  const modules = names.includes("brotli") ? 2 : 1;
  assert.deepEqual([ada.fetched, bo.fetched], [modules, modules]);
}

test("two pages draw by every codec, one after the other", options, async (t) => {
  // Two pairs share the codecs, because each codec takes the panel seconds.
  const pair = (room) => Promise.all([open(room, "Ada Lovelace"), open(room, "Bo Diddley")]);
  const pairs = await Promise.all([pair("compress"), pair("compress-more")]);
  const [ada] = pairs[0];
  const values = await choice(ada)
    .locator("option")
    .evaluateAll((all) => all.map(({ value }) => value));
  const rest = values.filter((name) => !OWN.includes(name));
  assert.ok(rest.length > 9, `there are ${values.join()}`);
  const half = Math.floor(values.length / 2) - OWN.length;
  await Promise.all([drawBy([...OWN, ...rest.slice(0, half)], ...pairs[0]), drawBy(rest.slice(half), ...pairs[1])]);
  const up = {};
  for (const name of ["template", "zstd", "off"]) up[name] = await measure(ada, name, 500);
  t.diagnostic(`the same texts: ${JSON.stringify(up)}`);
  assert.ok(up.template < up.zstd && up.zstd < up.off, `the panel shows no difference: ${JSON.stringify(up)}`);
  assert.ok((await ada.page.getByTestId("compress-tried").locator("tr").count()) > 3);
  await ada.screenshot("compress");
});

/**
 * Returns true if the panel's text says that messages are compressed by this codec in both
 * directions.
 */
function says(why, name) {
  if (name === "template") return /earlier ones/.test(why);
  if (name === "off") return /as they are/.test(why);
  if (name === "auto") return /: up .+, down .+ Chosen/.test(why);
  const by = IDLE.includes(name) ? "as it is" : name;
  return new RegExp(`: up [^,]*\\b${by}\\b.*, down [^,]*\\b${by}\\b`, "i").test(why);
}

test(
  "the address sets the codec, the panel remembers it, and a module that cannot be loaded is reported",
  options,
  async (t) => {
    const ada = await open("chosen&compress=zstd-19", "Ada Lovelace");
    await until("the choice", async () => (await choice(ada).inputValue()) === "zstd-19");
    await choice(ada).selectOption("brotli");
    await ada.page.reload();
    await ada.isConnected();
    await until("it is remembered", async () => (await choice(ada).inputValue()) === "brotli");
    t.diagnostic("Bo's network does not let the module through");
    const bo = await open("chosen", "Bo Diddley");
    await bo.page.route(isCodecs, (route) => route.abort());
    await choice(bo).selectOption("zstd");
    await until("it is off", async () => (await choice(bo).inputValue()) === "off");
    assert.match(await bo.page.getByText("could not be loaded").first().innerText(), /codecs/);
    await bo.choose("pen");
    await bo.drag(WAVE);
    assert.deepEqual(await ada.objects(1), await bo.objects(1));
  },
);
