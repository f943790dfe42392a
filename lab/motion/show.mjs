// The places that a method shows for arriving messages.

import { VirtualClock } from "./clock.mjs";

/** A frame in milliseconds, at 60 a second. */
export const FRAME = 1000 / 60;

/** Where the method shows the pointer in each frame: `{ now, x, y }`. */
export function show(method, arrivals, recording) {
  const clock = new VirtualClock();
  return clock.run(() => {
    const shown = method.receiver();
    const frames = [];
    let next = 0;
    for (let now = recording.start; now < recording.end; now += FRAME) {
      for (; next < arrivals.length && arrivals[next].at <= now; next++) {
        clock.advance(arrivals[next].at);
        shown.receive(arrivals[next]);
      }
      clock.advance(now);
      clock.frame();
      const place = shown.at(now);
      if (place) frames.push({ now, x: place[0], y: place[1] });
    }
    shown.end?.();
    return frames;
  });
}
