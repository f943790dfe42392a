// Measures how busy a page is while somebody drags in a room of 50, and while all of them move:
// times between animation frames, long tasks, the processor time of the page's main thread, bytes
// received, and in the React page renders of the whole application.
//
// The whiteboard is one built folder or several, which take turns, so that two versions are
// compared under the same conditions:
//
//     make build && cd web/e2e
//     GROUPWIRE_BINARY=… GROUPWIRE_BROWSER=… node --experimental-websocket frames.mjs [ROUNDS [FOLDER…]]

import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { awareness, connect } from "groupwire";
import { build, preview } from "vite";
import { random } from "./random.mjs";
import { Server } from "./server.mjs";
import { until } from "./wait.mjs";
import { launch, newContext } from "./window.mjs";

const PEOPLE = 50;
const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const [rounds = "3", ...given] = process.argv.slice(2);
const boards = given.length > 0 ? given : [here("../whiteboard/dist")];

/**
 * A page: its folder, the channel of its pointers, the address of a room, and how many others it
 * shows.
 */
const whiteboard = (root, at) => ({
  name: `whiteboard ${boards.length > 1 ? at + 1 : ""}`.trim(),
  root,
  channel: "pointer",
  room: (round) => `frames-${at}-${round}`,
  query: (room, server) => ({ room, server, transport: "websocket" }),
  othersShown: (page) => page.evaluate(() => window.groupwireBoard?.participants.length),
});
const REACT = {
  name: "React page",
  root: here("react/dist"),
  channel: "cursor",
  // The page has one room, which everybody has left before the next round.
  room: () => "cursors",
  query: (_room, server) => ({ server, name: "Me", color: "#1d4ed8" }),
  othersShown: (page) => page.locator("li").count(),
};

/** A second in which one person drags, and one in which all of them move. */
const SCENES = { "one drags": 1, "all move": PEOPLE - 2 };

await build({
  root: here("react"),
  logLevel: "error",
  configFile: false,
  // A page for development, because only that has React's Profiler.
  mode: "development",
  define: { "process.env.NODE_ENV": '"development"' },
});
const [browser, server] = await Promise.all([launch(), Server.start("--origin", "*")]);
const rows = new Map();
for (let round = 0; round < Number(rounds); round += 1) {
  for (const kind of [...boards.map(whiteboard), REACT]) {
    for (const [scene, figures] of Object.entries(await measure(kind, round))) {
      const key = `${kind.name}, ${scene}`;
      rows.set(key, [...(rows.get(key) ?? []), figures]);
    }
  }
}
await browser.close();
await server.kill();
rmSync(here("react/dist"), { recursive: true, force: true });
print();
process.exit(0);

async function measure(kind, round) {
  const served = await preview({
    root: kind.root,
    configFile: false,
    logLevel: "error",
    build: { outDir: "." },
    preview: { port: 0, host: "127.0.0.1" },
  });
  const room = kind.room(round);
  const others = Array.from({ length: PEOPLE - 1 }, (_, i) =>
    connect(server.url, room, {
      presence: { name: `Person ${i}`, color: "#c2410c" },
      transports: ["websocket"],
    }),
  );
  const qos = awareness({ maxRate: 25, loss: 0.05, deadline: 250 });
  const channels = others.map((one) => one.channel(kind.channel, qos));
  // One of the others tells what the page receives, as the page cannot.
  const observer = others.at(-1);
  channels.pop().on("message", () => {});
  const context = await newContext(browser, { viewport: { width: 1200, height: 800 } });
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  await devtools.send("Performance.enable");
  await page.goto(`${served.resolvedUrls.local[0]}?${new URLSearchParams(kind.query(room, server.url))}`);
  await until("all are there", async () => (await kind.othersShown(page)) === PEOPLE - 1);
  // Pages load what shows others, and the rest of the core.
  await page.waitForTimeout(3000);
  const found = {};
  for (const [scene, moving] of Object.entries(SCENES)) {
    // The first movement makes the cursors.
    await move(channels.slice(0, moving), 300);
    await page.waitForTimeout(1500);
    const before = await look(page, devtools, observer);
    await page.evaluate(watch);
    await move(channels.slice(0, moving), 1000);
    // The wait lets all pointers arrive, and traces fade.
    await page.waitForTimeout(1000);
    const { intervals, long } = await page.evaluate(() => window.measured());
    const after = await look(page, devtools, observer);
    const sorted = intervals.sort((a, b) => a - b);
    const at = (share) => sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
    found[scene] = {
      frames: sorted.length,
      "median ms": at(0.5),
      "p95 ms": at(0.95),
      "longest ms": at(1),
      "long tasks": long,
      "main thread ms": after.TaskDuration - before.TaskDuration,
      "script ms": after.ScriptDuration - before.ScriptDuration,
      "layout and style ms":
        after.LayoutDuration + after.RecalcStyleDuration - before.LayoutDuration - before.RecalcStyleDuration,
      messages: after.messages - before.messages,
      packets: after.packets - before.packets,
      bytes: after.bytes - before.bytes,
      renders: after.renders - before.renders,
      draws: after.draws - before.draws,
    };
  }
  await context.close();
  for (const one of others) one.leave();
  await served.close();
  return found;
}

/**
 * Lets pointers wander as hands do, with changing speed and direction, 60 places a second, for some
 * time.
 */
async function move(channels, ms) {
  const next = random(channels.length);
  const hands = channels.map(() => ({ x: 200 + 800 * next(), y: 150 + 500 * next(), turn: 0, angle: 7 * next() }));
  for (const end = performance.now() + ms; performance.now() < end;) {
    hands.forEach((hand, i) => {
      hand.turn = 0.9 * hand.turn + 0.2 * (next() - 0.5);
      hand.angle += hand.turn;
      const speed = 4 + 10 * next();
      hand.x = Math.min(Math.max(hand.x + speed * Math.cos(hand.angle), 0), 1200);
      hand.y = Math.min(Math.max(hand.y + speed * Math.sin(hand.angle), 0), 800);
      channels[i].send({ x: Math.round(hand.x), y: Math.round(hand.y) });
    });
    await new Promise((resolve) => setTimeout(resolve, 1000 / 60));
  }
}

/** Begins to note the times between frames, and tasks of more than 50 ms. */
function watch() {
  const intervals = [];
  let last = performance.now();
  let long = 0;
  const observer = new PerformanceObserver((list) => (long += list.getEntries().length));
  observer.observe({ type: "longtask" });
  const frame = (now) => {
    intervals.push(now - last);
    last = now;
    if (!isOver) requestAnimationFrame(frame);
  };
  let isOver = false;
  requestAnimationFrame(frame);
  window.measured = () => {
    isOver = true;
    observer.disconnect();
    return { intervals: intervals.slice(1), long };
  };
}

/**
 * What the browser has measured of the page since it was loaded, times in milliseconds; what the
 * React page has counted.
 */
async function look(page, devtools, observer) {
  const { metrics } = await devtools.send("Performance.getMetrics");
  const times = metrics.map(({ name, value }) => [name, 1000 * value]);
  const { renders = 0, draws = 0 } = (await page.evaluate(() => window.seen && { ...window.seen })) ?? {};
  const { messages, packets, bytesAfter: bytes } = observer.stats.received;
  return { ...Object.fromEntries(times), renders, draws, messages, packets, bytes };
}

/** Prints the median of all rounds as a table. */
function print() {
  const [first] = rows.values();
  const names = Object.keys(first[0]);
  const line = (cells) => console.log(`| ${cells.join(" | ")} |`);
  line(["page", ...names]);
  line(["---", ...names.map(() => "---")]);
  for (const [key, all] of rows) {
    line([
      key,
      ...names.map((name) => {
        const values = all.map((one) => one[name]).sort((a, b) => a - b);
        return Math.round(10 * values[Math.floor(values.length / 2)]) / 10;
      }),
    ]);
  }
}
