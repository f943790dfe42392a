/** Everybody's pointer. People move theirs by themselves until the reader takes one over. */

import { awareness } from "groupwire/testing/page";
import { follow } from "groupwire/motion";
import { h } from "../dom.js";
import type { DemoWindow, Kind, Running } from "../kind.js";
import { personAt } from "../people.js";

/** Coordinates are thousandths of the width and the height of the window. */
const WHOLE = 1000;

/** An arrow key moves the pointer this far. */
const STEP = 25;

/** After the reader has let go, the person moves by itself again after this many milliseconds. */
const REST_MS = 3000;

/** Messages a second: fewer where many people move, so that also phones keep up. */
const rateOf = (count: number): number => (count > 6 ? 8 : 25);

export const pointers: Kind = {
  title: "Everybody's pointer",
  hint: "Move your pointer in a window, or use its arrow keys: the other windows follow. Then lose packets, and see who still keeps its promise.",
  counts: [2, 6, 20],
  network: { delay: 10 },
  channels: {
    pointer: { name: "Pointers", asks: "at most 300 ms old; 5 in 100 may be missing" },
    shot: { name: "Shots of a game", asks: "at most 100 ms old; 2 in 1,000 may be missing" },
  },
  hasActors: true,
  open,
};

function open({ index, person, room, body, count, isActing, say }: DemoWindow): Running {
  const maxRate = rateOf(count);
  const pointer = room.channel("pointer", awareness({ maxRate, deadline: 300, loss: 0.05 }));
  const shot = room.channel("shot", awareness({ maxRate, deadline: 100, loss: 0.002 }));
  shot.on("message", () => {});

  const plane = h("div", {
    class: "plane",
    tabindex: 0,
    role: "application",
    "aria-label": `Plane of ${person.name}: the arrow keys move ${person.name}'s pointer`,
  });
  const own = cursor(person.name, person.color);
  own.classList.add("own");
  plane.append(own);
  body.append(plane);

  const others = new Map<number, HTMLElement>();
  const following = follow(room, pointer, {
    read: (message) => {
      const { x, y } = message.json<{ x: number; y: number }>();
      return [x, y];
    },
    draw: (views) => {
      for (const element of others.values()) element.hidden = true;
      for (const { sender, place, isGone } of views) {
        const presence = room.participants.get(sender)?.presence ?? personAt(sender);
        const element = others.get(sender) ?? cursor(presence.name, presence.color);
        if (!others.has(sender)) plane.append(element);
        others.set(sender, element);
        element.hidden = isGone;
        put(element, place[0] ?? 0, place[1] ?? 0);
      }
    },
  });

  let [x, y] = pathOf(index, 0);
  let takenUntil = 0;
  let isHeld = false;
  const move = (toX: number, toY: number): void => {
    [x, y] = [clamp(toX), clamp(toY)];
    put(own, x, y);
    pointer.send({ x, y, tool: "pen", pressed: isHeld });
    shot.send({ x: y, y: x, power: 7 });
  };
  const take = (): void => {
    takenUntil = performance.now() + REST_MS;
    say(`You move ${person.name}'s pointer.`);
  };
  plane.addEventListener("pointermove", (event) => {
    const { left, top, width, height } = plane.getBoundingClientRect();
    take();
    isHeld = event.buttons > 0;
    move(((event.clientX - left) / width) * WHOLE, ((event.clientY - top) / height) * WHOLE);
  });
  plane.addEventListener("keydown", (event) => {
    const [right, down] = ARROWS[event.key] ?? [0, 0];
    if (right === 0 && down === 0) return;
    event.preventDefault();
    take();
    move(x + right * STEP, y + down * STEP);
  });
  put(own, x, y);

  return {
    frame: (now) => {
      if (performance.now() < takenUntil) return;
      say("");
      if (isActing() && room.status === "connected") move(...pathOf(index, now));
    },
    stop: () => following.stop(),
  };
}

const ARROWS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** Where a person moves by itself: curves that do not repeat soon, each its own. */
function pathOf(index: number, now: number): [number, number] {
  const time = now / 1000 + index * 7;
  const speed = 0.8 + (index % 5) * 0.13;
  const x = 500 + 330 * Math.sin(time * speed) + 110 * Math.sin(time * 0.37 * speed + index);
  const y = 500 + 300 * Math.cos(time * 0.83 * speed + index) + 110 * Math.sin(time * 1.9 * speed);
  return [clamp(x), clamp(y)];
}

function clamp(value: number): number {
  return Math.round(Math.max(0, Math.min(WHOLE, value)));
}

function put(element: HTMLElement, x: number, y: number): void {
  element.style.left = `${x / 10}%`;
  element.style.top = `${y / 10}%`;
}

function cursor(name: string, color: string): HTMLElement {
  const element = h("div", { class: "cursor", "aria-hidden": "true" }, h("span", {}, name));
  element.style.setProperty("--person", color);
  return element;
}
