/**
 * The page: joins the room that its address names (`?room=meadow&server=http://127.0.0.1:8080`),
 * and shows it in each frame.
 */

import { connect } from "groupwire";
import { cameraAt, draw, worldAt, type Camera, type Figure, type Palette } from "./draw";
import { Keys } from "./keys";
import { COLORS, People, type Way } from "./people";
import { Talk } from "./talk";
import { apart, Walker, WORLD, type Point } from "./walker";

/** A person hears others who are nearer than this. */
const EARSHOT = 320;

/** Milliseconds for which a bubble stays. */
const BUBBLE = 8000;

/** The longest step: a window that was hidden does not make up for the time. */
const LONGEST_STEP = 100;

const { searchParams, hostname } = new URL(location.href);
const find = <E extends Element>(selector: string): E => document.querySelector<E>(selector)!;
const canvas = find<HTMLCanvasElement>("canvas");
const form = find<HTMLFormElement>("form");
const nameInput = find<HTMLInputElement>("[name=name]");
const textInput = find<HTMLInputElement>("[name=text]");
const way = find<HTMLSelectElement>("select");

nameInput.value =
  localStorage.getItem("groupwire-name")?.slice(0, 24) || `Guest ${100 + Math.floor(Math.random() * 900)}`;
const color = COLORS[Math.floor(Math.random() * COLORS.length)]!;
const people = new People(
  connect,
  searchParams.get("server") ?? `http://${hostname}:8080`,
  searchParams.get("room") ?? "meadow",
  { name: nameInput.value, color },
);
const me = new Walker([WORLD.width * (0.3 + 0.4 * Math.random()), WORLD.height * (0.3 + 0.4 * Math.random())]);
const keys = new Keys();
const talkButton = find<HTMLButtonElement>("#talk");
const talk = new Talk(people.room.room, EARSHOT, (label, problem) => {
  talkButton.textContent = label;
  find("#problem").textContent = problem;
});
talkButton.addEventListener("click", () => void talk.press());
let camera: Camera = cameraAt(me.place, 1, 1);
let palette = readPalette();

/** The distance that each of the others has walked, and its place in the last frame. */
const walks = new Map<number, { place: Point; walked: number }>();
const myWalk = { place: me.place, walked: 0 };

function shown() {
  return people.shown(way.value as Way);
}

/** In each frame: walks, sends the own place, draws everybody. */
let last = performance.now();
function frame(now: number): void {
  me.step(Math.min(now - last, LONGEST_STEP));
  last = now;
  people.move(me.place);
  camera = cameraAt(me.place, canvas.clientWidth, canvas.clientHeight);
  const others = shown();
  talk.hear(others.map(({ id, place }) => [id, apart(me.place, place)]));
  const { speakers } = talk;
  const figures: Figure[] = others.map(({ id, name, color, place, says }) => {
    const walk = walks.get(id) ?? { place, walked: 0 };
    walks.set(id, walk);
    const words = says ?? (speakers.has(id) ? "🔊" : undefined);
    return { name, color, place, says: hears(place, words), walked: advance(walk, place), isMe: false };
  });
  for (const id of walks.keys()) if (!others.some((other) => other.id === id)) walks.delete(id);
  const { name, color, says } = people.me;
  figures.push({ name, color, place: me.place, says, walked: advance(myWalk, me.place), isMe: true });
  draw(canvas, devicePixelRatio, camera, figures, palette);
  requestAnimationFrame(frame);
}

function advance(walk: { place: Point; walked: number }, place: Point): number {
  walk.walked += apart(walk.place, place);
  walk.place = place;
  return walk.walked;
}

function hears(place: Point, says: string | undefined): string | undefined {
  return apart(me.place, place) <= EARSHOT ? says : undefined;
}

/** Walking: keys on the canvas, or a click. */
canvas.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !keys.change(event.code, true)) return;
  event.preventDefault();
  me.steer(keys.direction);
});
canvas.addEventListener("keyup", ({ code }) => keys.change(code, false) && me.steer(keys.direction));
canvas.addEventListener("blur", () => {
  if (keys.direction.some((sign) => sign !== 0)) me.steer([0, 0]);
  keys.release();
});
canvas.addEventListener("pointerdown", ({ offsetX, offsetY }) => me.walkTo(worldAt(offsetX, offsetY, camera)));

/** Talking, and one's name. */
let bubble: ReturnType<typeof setTimeout> | undefined;
form.addEventListener("submit", (event) => {
  event.preventDefault();
  const says = textInput.value.trim();
  if (!says) return;
  textInput.value = "";
  people.change({ says });
  clearTimeout(bubble);
  bubble = setTimeout(() => people.change({ says: undefined }), BUBBLE);
});
nameInput.addEventListener("change", () => {
  const name = nameInput.value.trim();
  if (!name) return;
  localStorage.setItem("groupwire-name", name);
  people.change({ name });
});

/** For screen readers: what people near me say, each sentence once. */
const said = new Map<number, string | undefined>();
people.room.room.on("participants", () => {
  for (const { id, name, place, says } of shown()) {
    if (says && says !== said.get(id) && hears(place, says)) {
      const line = document.createElement("p");
      line.textContent = `${name}: ${says}`;
      find("[role=log]").append(line);
    }
    said.set(id, says);
  }
});

/** The connection. */
people.room.room.subscribe(({ status, count }) => {
  const texts = {
    connecting: "Connecting…",
    connected: count === 1 ? "Only you are here" : `${count} people are here`,
    reconnecting: "The connection is lost. Trying again…",
    closed: "Disconnected. Load the page anew.",
  };
  const output = find<HTMLOutputElement>("output");
  output.dataset.status = status;
  output.textContent = texts[status];
});

/** The canvas has the window's size, and the page's colours. */
function readPalette(): Palette {
  const style = getComputedStyle(document.documentElement);
  const color = (name: string): string => style.getPropertyValue(`--${name}`);
  const names = ["outside", "grass", "tuft", "path", "tree", "pond", "text", "bubble"] as const;
  return Object.fromEntries(names.map((name) => [name, color(name)])) as unknown as Palette;
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => (palette = readPalette()));
new ResizeObserver(() => {
  canvas.width = canvas.clientWidth * devicePixelRatio;
  canvas.height = canvas.clientHeight * devicePixelRatio;
}).observe(canvas);

requestAnimationFrame(frame);

// For the browser test: the places of others in this frame, the own place, and the round trip.
Object.assign(window, {
  groupwireAvatars: {
    shown: () => shown().map(({ id, place }) => [id, ...place]),
    me,
    roundTrip: () => people.room.room.stats.roundTrip,
  },
});
