// Makes docs/images/whiteboard.webp, the moving picture in the README: three people draw in windows
// of their own, and a fourth looks on. GROUPWIRE_BINARY and GROUPWIRE_BROWSER as for the tests, and
// img2webp on the PATH (Debian's package webp); `node picture.mjs` in this folder.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Board } from "./board.mjs";
import { Server } from "./server.mjs";
import { pause, until } from "./wait.mjs";
import { launch } from "./window.mjs";

const PICTURE = fileURLToPath(new URL("../../docs/images/whiteboard.webp", import.meta.url));
const viewport = { width: 1280, height: 720 };

/**
 * The drawing of each person: a box with a word at this place, in this colour, and arrows from it.
 */
const PEOPLE = [
  { name: "Ada", word: "draft", color: "blue", left: 118 },
  { name: "Bo", word: "review", color: "green", left: 460 },
  { name: "Cy", word: "publish", color: "violet", left: 802 },
];
const [TOP, WIDTH, HEIGHT] = [140, 200, 100];

/** A hand's interval between two positions (ms). */
const FRAME = 16;

/** The size of the picture, the least time between two frames, and how long the last one stays. */
const SIZE = { maxWidth: 896, maxHeight: 504 };
const [LOOK_MS, LAST_MS] = [100, 2500];

/** Moves the pointer as a hand does: in small steps, and not quite straight. */
async function move({ mouse }, from, to, steps, bend = 0) {
  for (let step = 1; step <= steps; step++) {
    const way = step / steps;
    const eased = way * way * (3 - 2 * way);
    const aside = bend * Math.sin(way * Math.PI) + Math.sin(way * 17) * 1.5;
    await mouse.move(from[0] + (to[0] - from[0]) * eased, from[1] + (to[1] - from[1]) * eased + aside);
    await pause(FRAME);
  }
}

async function stroke({ page }, from, to, steps, bend) {
  await page.mouse.move(...from);
  await page.mouse.down();
  await move(page, from, to, steps, bend);
  await page.mouse.up();
}

async function draw(board, { word, color, left }) {
  const { page } = board;
  const [right, middle] = [left + WIDTH, TOP + HEIGHT / 2];
  await page.getByTestId(`color-${color}`).click();
  await board.choose("rectangle");
  await stroke(board, [left, TOP], [right, TOP + HEIGHT], 70);
  await board.choose("text");
  await page.mouse.click(left + 32, middle);
  await page.getByTestId("text-editor").pressSequentially(word, { delay: 120 });
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await board.choose("pen");
  await stroke(board, [right + 4, middle], [right + 132, middle], 60, -16);
  await stroke(board, [right + 116, middle - 12], [right + 132, middle], 20);
  await stroke(board, [right + 132, middle], [right + 118, middle + 14], 20);
  // The pointer moves to the next place and back again.
  const rest = [left + 90, 420 + left / 12];
  await move(page, [right, middle], rest, 70, 40);
  await stroke(board, rest, [left + 210, 470], 80, 30);
  await page.keyboard.press("Control+z");
  await move(page, [left + 210, 470], rest, 60, -30);
}

/** Records what a page shows, until the returned function is called, which writes the picture. */
async function record(page) {
  const looks = [];
  const session = await page.context().newCDPSession(page);
  session.on("Page.screencastFrame", ({ data, metadata, sessionId }) => {
    session.send("Page.screencastFrameAck", { sessionId }).catch(() => {});
    const at = metadata.timestamp * 1000;
    if (looks.length === 0 || at - looks.at(-1).at >= LOOK_MS) looks.push({ at, data });
  });
  await session.send("Page.startScreencast", { format: "png", ...SIZE });
  return async (file) => {
    await session.send("Page.stopScreencast");
    const folder = mkdtempSync(join(tmpdir(), "groupwire-picture-"));
    const args = looks.flatMap(({ at, data }, index) => {
      const path = join(folder, `${index}.png`);
      writeFileSync(path, Buffer.from(data, "base64"));
      const next = looks[index + 1]?.at ?? at + LAST_MS;
      return ["-d", String(Math.round(next - at)), path];
    });
    execFileSync("img2webp", ["-loop", "0", "-lossy", "-q", "60", "-m", "6", ...args, "-o", file], {
      stdio: "inherit",
    });
    rmSync(folder, { recursive: true });
  };
}

const [browser, server] = await Promise.all([launch(), Server.start("--codecs", "all", "--emulate")]);
try {
  const open = (name) => Board.open(browser, server, "demo", name, { viewport });
  const [viewer, ...boards] = await Promise.all(["Bea Woods", ...PEOPLE.map(({ name }) => name)].map(open));
  await until("everybody", async () => (await viewer.read("participants")).length === PEOPLE.length);
  const write = await record(viewer.page);
  await Promise.all(boards.map((board, at) => draw(board, PEOPLE[at])));
  await viewer.objects(5 * PEOPLE.length);
  // The pointers move on while the picture is taken, so that their traces are in it.
  const moving = boards.map(({ page }, at) => move(page, [300 + 340 * at, 470], [230 + 330 * at, 330], 60, 20));
  await pause(45 * FRAME);
  console.log(await viewer.page.getByTestId("panel-toggle").innerText());
  await Promise.all(moving);
  await write(PICTURE);
} finally {
  await browser.close();
  await server.kill();
}
