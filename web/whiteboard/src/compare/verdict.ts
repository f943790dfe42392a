/** Summarises the comparison in one sentence. */

import type { Settings } from "./emulation";
import type { Numbers } from "./timeline";

/** Below this ratio both look the same. */
const SAME = 1.25;

/** Fewer seconds of samples are too few for a sentence. */
const ENOUGH = 3;

/** Milliseconds beyond the emulated delay that only a busy machine adds to datagrams. */
const BUSY = 250;

export function verdict(settings: Settings, websocket: Numbers | undefined, webtransport: Numbers | undefined): string {
  const [stream, datagrams] = [websocket?.p99, webtransport?.p99];
  const seconds = Math.min(websocket?.seconds ?? 0, webtransport?.seconds ?? 0);
  if (stream === undefined || datagrams === undefined || seconds < ENOUGH) {
    return "Once in a while a packet is lost. A stream stops until it has been sent again; datagrams go on.";
  }
  // The delay, a tick, and one or two lost positions explain less than this.
  if (datagrams > settings.delay + BUSY && stream < datagrams * SAME) {
    return "Both stop now and then, for other reasons than loss: this computer, or the server's, is busy.";
  }
  if (settings.loss === 0) {
    return "Nothing is lost: both are the same. Now let some packets get lost.";
  }
  const times = stream / datagrams;
  if (times < SAME) return "So far both are about the same: losses are rare, give them some seconds.";
  const more = times < 10 ? times.toFixed(1) : times.toFixed(0);
  return (
    `With ${settings.loss} % of packets lost the stream falls ${stream.toFixed(0)} ms behind, ` +
    `datagrams ${datagrams.toFixed(0)} ms: ${more} times less.`
  );
}
