/** Simulated time that passes as real time does, in a page. */

import { checkOptions, type Rules } from "../arguments.js";
import { guarded } from "../events.js";
import type { Simulation } from "./simulate.js";

export interface PlayOptions {
  /** Simulated milliseconds in a real one. Default: 1. */
  readonly speed?: number;
}

/**
 * The most that passes in a frame. After a pause, or if the page is too slow, simulated time falls
 * behind.
 */
const LONGEST_MS = 100;

const PLAY: Rules<PlayOptions> = { speed: [0, 1000] };

/**
 * Lets the time of a simulation pass as real time does, frame by frame, until the returned function
 * is called or the simulation ends. A page in the background has no frames, so nothing happens
 * there.
 *
 * @example
 * ```ts
 * const net = simulate();
 * const [a, b] = net.join(2);
 * const stop = play(net);
 * ```
 */
export function play(net: Simulation, options: PlayOptions = {}): () => void {
  checkOptions(options, PLAY, "`play`");
  const { speed = 1 } = options;
  let isPlaying = true;
  let last: number | undefined;
  const step = async (now: number): Promise<void> => {
    const ms = Math.min(now - (last ?? now), LONGEST_MS) * speed;
    last = now;
    try {
      await net.run(ms);
    } catch (error) {
      if (net.hasEnded) return;
      guarded(() => {
        throw error;
      });
    }
    if (isPlaying) requestAnimationFrame((time) => void step(time));
  };
  requestAnimationFrame((time) => void step(time));
  return () => void (isPlaying = false);
}
