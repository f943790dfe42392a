/** Summarises the comparison in one sentence. */

import type { Network } from "./network";
import type { Numbers } from "./timeline";

/** Below this ratio both look the same. */
const SAME = 1.25;

/** Fewer seconds of samples are too few for a sentence. */
const ENOUGH = 3;

/** Milliseconds beyond the emulated delay that only a busy machine adds to datagrams. */
const BUSY = 250;

const WHY = "A stream stops until a lost packet has been sent again; datagrams go on.";

/**
 * `network` is undefined until the server has answered. `datagrams` are undefined where there is no
 * WebTransport: then there is nothing to compare with.
 */
export function verdict(network: Network | undefined, stream: Numbers, datagrams: Numbers | undefined): string {
  if (!datagrams) return "Only WebSocket is shown here, so there is nothing to compare it with.";
  if (network === undefined || !isKnown(stream) || !isKnown(datagrams)) return WHY;
  const both = { stream: stream.p99, datagrams: datagrams.p99 };
  const [slower, faster] = both.stream > both.datagrams ? [both.stream, both.datagrams] : [both.datagrams, both.stream];
  const isSame = slower < faster * SAME;
  if (network === "own") return ofOwn(both, isSame);
  // The delay, a tick, and one or two lost positions explain less than this.
  if (both.datagrams > network.delay + BUSY && both.stream < both.datagrams * SAME) {
    return "Both stop now and then, for other reasons than loss: this computer, or the server's, is busy.";
  }
  if (network.loss === 0) {
    return isSame
      ? "Nothing is lost: both are about the same. Now let some packets get lost."
      : `Nothing is lost, and yet ${difference(both)} Start over, and give them some seconds.`;
  }
  const lost = `With ${network.loss} % of packets lost`;
  if (isSame) return `${lost} both are about the same so far: losses are rare, give them some seconds.`;
  return both.stream > both.datagrams
    ? `${lost} ${difference(both)}`
    : `So far ${difference(both)} Give them some seconds.`;
}

function ofOwn(both: Both, isSame: boolean): string {
  if (isSame) return "On your own network both are about the same. They differ where packets get lost.";
  return `On your own network ${difference(both)}`;
}

interface Both {
  readonly stream: number;
  readonly datagrams: number;
}

function difference({ stream, datagrams }: Both): string {
  const times = Math.max(stream, datagrams) / Math.min(stream, datagrams);
  const ratio = Number.isFinite(times) ? ` ${times < 10 ? times.toFixed(1) : times.toFixed(0)} times` : "";
  const how = stream > datagrams ? "less" : "more";
  return `the stream falls ${stream.toFixed(0)} ms behind, datagrams ${datagrams.toFixed(0)} ms:${ratio} ${how}.`;
}

function isKnown(numbers: Numbers): numbers is Numbers & { readonly p99: number } {
  return numbers.p99 !== undefined && numbers.seconds >= ENOUGH;
}
