/** Walkers without a window: `crowd.mjs` starts them, and the browser test. */

import type { Connect } from "groupwire/schema";
import { COLORS, People } from "./people";
import type { Point } from "./walker";
import { Wanderer } from "./wanderer";

/** Milliseconds between two steps. */
const STEP = 20;

const NAMES = "Ada Bo Cy Dee Eli Fay Gus Hal Ida Jo Kay Lou Mia Ned Ola Pia Rex Sue Tom Uma".split(" ");

export interface Member {
  readonly people: People;
  readonly wanderer: Wanderer;
}

export interface Crowd {
  readonly members: readonly Member[];
  leave(): void;
}

export interface CrowdOptions {
  /** Called after each step. */
  readonly walked?: (member: Member, place: Point) => void;
  /** Default: `Math.random`. */
  readonly random?: () => number;
}

/** Lets `count` people join the room and walk about. */
export function startCrowd(
  connect: Connect,
  server: string,
  room: string,
  count: number,
  { walked, random }: CrowdOptions = {},
): Crowd {
  const members = Array.from({ length: count }, (_, at) => {
    const person = { name: NAMES[at % NAMES.length]!, color: COLORS[at % COLORS.length]! };
    return { people: new People(connect, server, room, person), wanderer: new Wanderer(random) };
  });
  let last = Date.now();
  const timer = setInterval(() => {
    const passed = Date.now() - last;
    last += passed;
    for (const member of members) {
      const place = member.wanderer.step(passed);
      member.people.move(place);
      walked?.(member, place);
    }
  }, STEP);
  return {
    members,
    leave: () => {
      clearInterval(timer);
      for (const { people } of members) people.leave();
    },
  };
}
