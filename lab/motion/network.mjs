// The network between two participants, in simulated time, with the losses of lab/sim by their
// names.

export const LOSSES = ["rand0", "rand5", "rand20", "pb10@6"];

/**
 * `datagram`: a lost message does not arrive. `stream`: a lost message and all after it arrive
 * late.
 */
export const TRANSPORTS = ["datagram", "stream"];

/** The delay of one direction in milliseconds, and the largest random addition for each packet. */
export const [DELAY, JITTER] = [40, 20];

/**
 * A stream sends a lost packet again after two round trips (RFC 8985), then at growing intervals.
 */
const RESEND = 2 * (2 * DELAY + JITTER);

/** Milliseconds between two messages, as on the channel of a pointer. */
const INTERVAL = 1000 / 25;

/**
 * The messages that a channel with this interval sends: a newer message replaces one that waits.
 */
export function conflate(messages, interval = INTERVAL) {
  const sent = [];
  let [waiting, next] = [undefined, -Infinity];
  const flush = (until) => {
    if (!waiting || next > until) return;
    sent.push({ ...waiting, sent: Math.max(next, waiting.made), index: sent.length });
    next = sent.at(-1).sent + interval;
    waiting = undefined;
  };
  for (const message of messages) {
    flush(message.made);
    waiting = message;
    flush(message.made);
  }
  flush(Infinity);
  return sent;
}

/** The messages as they arrive, in that order. */
export function travel(messages, { transport, loss, seed }) {
  const random = randomOf(seed);
  const isLost = lossOf(loss, randomOf(seed + 1000));
  let last = 0;
  const arrivals = messages.flatMap((message) => {
    let at = message.sent + DELAY + random() * JITTER;
    const lost = isLost();
    if (transport === "datagram") return lost ? [] : [{ ...message, at }];
    // A packet that is sent again can be lost, too.
    let wait = RESEND;
    for (let again = lost; again && wait < 5000; again = isLost(), wait *= 2) at += wait;
    last = Math.max(last, at);
    return [{ ...message, at: last }];
  });
  return arrivals.sort((one, other) => one.at - other.at);
}

/**
 * Decides for each packet whether it is lost: `randN` (percent) or `pbM@P` (bursts of the AFEC
 * paper, section 4).
 */
export function lossOf(name, random) {
  const [, percent] = /^rand([\d.]+)$/.exec(name) ?? [];
  if (percent !== undefined) return () => random() * 100 < Number(percent);
  const [, longest, start] = /^pb(\d+)@([\d.]+)$/.exec(name) ?? [];
  if (longest === undefined) throw new Error(`no such loss: ${name}`);
  let left = 0;
  return () => {
    if (left === 0 && random() * 100 < Number(start)) left = 1 + Math.floor(random() * Number(longest));
    const lost = left > 0;
    left = Math.max(left - 1, 0);
    return lost;
  };
}

/** Numbers from 0 to 1, by mulberry32: the same seed gives the same numbers. */
export function randomOf(seed) {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
