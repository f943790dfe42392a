// The example examples/avatars with twenty people, two of them with a window, over a network that
// loses 5 % of the packets.
//
// What windows show depends on how busy this machine is, so it is judged only while frames, steps
// and round trips are in time.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { connect } from "groupwire";
import { runnerImport } from "vite";
import { Example } from "./example.mjs";
import { pause, until } from "./wait.mjs";

const example = new Example("avatars", "--emulate");
const options = { timeout: 300_000 };

const ROOM = "meadow";
const WALKERS = 18;
const NETWORK = { loss: 0.05, delay_ms: 20 };

/** Units per second that everybody walks. */
const SPEED = 200;
/**
 * A prediction continues for 400 ms after the last message, so nobody is shown farther from their
 * line than this, with 20 for rounding.
 */
const OFF_THE_WAY = 0.4 * SPEED + 20;
/** Nine of ten shown places are off by less than the distance walked in half a second. */
const USUAL_ERROR = SPEED / 2;
/**
 * A step between two frames that is longer than the walked distance by more than this looks like a
 * jump.
 */
const JUMP = 60;
/**
 * The machine keeps up while frames and walkers' steps are at most this far apart, and round trips
 * take at most this long, in milliseconds.
 */
const IN_TIME = { frames: 100, steps: 100, roundTrip: 200 };
/** After this many attempts on a machine that does not keep up, times are not judged. */
const TRIES = 5;

/**
 * Steps of 20 ms that are kept of each walker: more than twice the watched time, plus what the
 * network holds back.
 */
const KEPT = 400;
const WATCHED_MS = 1200;

let crowd;
after(() => crowd?.leave());

/** The paths of the walkers: by participant, [time, x, y] for each step. */
const ways = new Map();

async function startCrowd() {
  const source = fileURLToPath(new URL("../../examples/avatars/src/crowd.ts", import.meta.url));
  const { module } = await runnerImport(source, { logLevel: "error" });
  const walked = ({ people }, [x, y]) => {
    const id = people.room.room.self?.id;
    if (id !== undefined) ways.set(id, [...(ways.get(id) ?? []).slice(-KEPT), [Date.now(), x, y]]);
  };
  return module.startCrowd(connect, emulated(), ROOM, WALKERS, { walked });
}

/** The server's address, for clients who go over the emulated network. */
const emulated = () => `${example.server.url}/?emulate`;

/**
 * What a window shows in each frame of some time: [time, [[id, x, y], ...], round trip] for each.
 */
function watch({ page }, ms) {
  return page.evaluate(
    (ms) =>
      new Promise((resolve) => {
        const frames = [];
        const end = performance.now() + ms;
        const note = () => {
          frames.push([Date.now(), window.groupwireAvatars.shown(), window.groupwireAvatars.roundTrip()]);
          if (performance.now() < end) requestAnimationFrame(note);
          else resolve(frames);
        };
        requestAnimationFrame(note);
      }),
    ms,
  );
}

const apart = (ax, ay, bx, by) => Math.hypot(bx - ax, by - ay);

/** Where a walker was at a time. */
function placeAt(way, time) {
  const next = way.findIndex(([at]) => at >= time);
  return way[next < 0 ? way.length - 1 : next].slice(1);
}

/** The distance of a point from the line that a walker walked. */
function offTheWay(way, x, y) {
  let nearest = Infinity;
  for (let at = 1; at < way.length; at += 1) {
    const [, ax, ay] = way[at - 1];
    const [, bx, by] = way[at];
    const squared = (bx - ax) ** 2 + (by - ay) ** 2;
    const share = squared > 0 ? ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / squared : 0;
    const within = Math.min(Math.max(share, 0), 1);
    nearest = Math.min(nearest, apart(x, y, ax + (bx - ax) * within, ay + (by - ay) * within));
  }
  return nearest;
}

/** Judges the frames of a window by the paths of the walkers. */
function judge(frames) {
  const [errors, offs, jumps] = [[], [], []];
  const before = new Map();
  for (const [time, shown] of frames) {
    for (const [id, x, y] of shown) {
      const way = ways.get(id);
      if (!way) continue;
      errors.push(apart(x, y, ...placeAt(way, time)));
      offs.push(offTheWay(way, x, y));
      const last = before.get(id);
      if (last) jumps.push(apart(last.x, last.y, x, y) - ((time - last.time) / 1000) * SPEED);
      before.set(id, { time, x, y });
    }
  }
  errors.sort((a, b) => a - b);
  return {
    usual: errors[Math.floor(errors.length * 0.9)],
    off: Math.max(...offs),
    jump: Math.max(...jumps),
    seen: before.size,
  };
}

/** True if everything came in time while these frames were shown. */
function keptUp(frames) {
  const [begin, end] = [frames[0][0], frames.at(-1)[0]];
  const gaps = (times) => Math.max(0, ...times.slice(1).map((time, at) => time - times[at]));
  const steps = [...ways.values()].map((way) =>
    gaps(way.map(([time]) => time).filter((time) => time >= begin && time <= end)),
  );
  const trips = [
    ...crowd.members.map(({ people }) => people.room.room.stats.roundTrip),
    ...frames.map((frame) => frame[2]),
  ];
  return (
    gaps(frames.map(([time]) => time)) <= IN_TIME.frames &&
    Math.max(...steps) <= IN_TIME.steps &&
    trips.every((trip) => trip <= IN_TIME.roundTrip)
  );
}

test("twenty people walk, and all are shown near where they are", options, async (t) => {
  const setting = await fetch(`${example.server.url}/emulation?room=${ROOM}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(NETWORK),
  });
  assert.ok(setting.ok, `the server emulates no network: ${setting.status}`);
  crowd = await startCrowd();
  const [ada, bo] = await Promise.all([
    example.open("Ada", { server: emulated(), room: ROOM }),
    example.open(
      "Bo",
      { server: emulated(), room: ROOM },
      { viewport: { width: 400, height: 640 }, colorScheme: "dark" },
    ),
  ]);
  for (const { page } of [ada, bo]) {
    await until("everybody", () => page.getByText("20 people are here").isVisible());
  }
  await Promise.all([ada, bo].map(showsAll));

  // Ada walks by keys, Bo by a click; each ends where the other one sees it.
  await ada.page.locator("canvas").focus();
  await ada.page.keyboard.down("ArrowLeft");
  await bo.page.mouse.click(100, 300);

  // What did not come in time shows for a while after.
  let wasInTime = [false, false];
  for (let tries = 0, isJudged = false; tries < TRIES && !isJudged; tries += 1) {
    const watched = await Promise.all([ada, bo].map((window) => watch(window, WATCHED_MS)));
    // The walkers' next step belongs to the last frame.
    await pause(50);
    const inTime = watched.map(keptUp);
    for (const [at, frames] of watched.entries()) {
      const { seen, off, usual, jump } = judge(frames);
      const isInTime = inTime[at] && wasInTime[at];
      t.diagnostic(JSON.stringify({ frames: frames.length, seen, off, usual, jump, isInTime }));
      // Where the machine does not keep up, walkers may be silent for 5 s, and the server then
      // gives them up until they are back.
      if (!isInTime) continue;
      assert.equal(seen, WALKERS, "all walkers are shown");
      assert.ok(off <= OFF_THE_WAY, `somebody is shown ${off.toFixed(0)} units off the way`);
      assert.ok(usual <= USUAL_ERROR, `people are shown ${usual.toFixed(0)} units from where they are`);
      assert.ok(jump <= JUMP, `somebody jumps by ${jump.toFixed(0)} units`);
      isJudged = true;
    }
    wasInTime = inTime;
  }

  // Avatars that were removed during the outage are back.
  await Promise.all([ada, bo].map(showsAll));
  await ada.page.keyboard.up("ArrowLeft");
  await until("Ada stands for Bo where she stands", () => isShown(bo, ada));
  await until("Bo stands for Ada where he stands", () => isShown(ada, bo));

  await ada.page.getByLabel("Say something to people near you").fill("Shall we meet at the pond?");
  await ada.page.keyboard.press("Enter");
  // Bo walks to Ada, and then hears what she says.
  await bo.page.evaluate((place) => window.groupwireAvatars.me.walkTo(place), await placeOf(ada));
  await until("Bo is there", async () => apart(...(await placeOf(bo)), ...(await placeOf(ada))) < 5);
  await ada.page.getByLabel("Say something to people near you").fill("Here I am.");
  await ada.page.keyboard.press("Enter");
  await until("Bo hears it", async () => (await bo.page.getByRole("log").textContent()).includes("Ada: Here I am."));
  await ada.screenshot("example-avatars-ada");
  await bo.screenshot("example-avatars-bo");
});

/** Waits until a window shows all walkers and the other window's person. */
const showsAll = ({ page }) =>
  until("everybody in the picture", () =>
    page.evaluate((others) => window.groupwireAvatars.shown().length === others, WALKERS + 1),
  );

const placeOf = ({ page }) => page.evaluate(() => [...window.groupwireAvatars.me.place]);

/** True if `watcher` shows somebody within a few units of where `walker` stands. */
async function isShown(watcher, walker) {
  const [x, y] = await placeOf(walker);
  const shown = await watcher.page.evaluate(() => window.groupwireAvatars.shown());
  return shown.some(([, sx, sy]) => apart(sx, sy, x, y) <= 5);
}
