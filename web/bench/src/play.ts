/**
 * Plays the traffic of the two applications in the paper, and measures the latency from one
 * participant to the others.
 */

import type { Message } from "groupwire";
import type { Member } from "./member";
import type { App, PlayCommand, Played } from "./protocol";
import { pause } from "./time";

/** Interval of pointer positions: 25 per second. */
const STEP_MS = 40;
/** Steps after which a stroke or drag is finished. */
const STEPS_PER_ACTION = 25;

/** The send times of all messages. All participants of a page have the same clock. */
class Log {
  readonly times = new Map<string, number>();
  readonly latencies: number[] = [];
  readonly transactions: number[] = [];
  sent = 0;
  transactionsSent = 0;
  wrong: string | null = null;

  note(member: Member, channel: string, text: string): void {
    if (channel === "draw") this.transactionsSent += 1;
    else this.sent += 1;
    this.times.set(`${member.room.self?.id} ${channel} ${text}`, performance.now());
  }

  take(channel: string, { sender, data, own, state }: Message): void {
    if (own || state) return;
    const sent = this.times.get(`${sender} ${channel} ${String(data)}`);
    // The message is of an earlier play. If it is not, the counts will be too low.
    if (sent === undefined) return;
    (channel === "draw" ? this.transactions : this.latencies).push(performance.now() - sent);
  }
}

export async function play(members: readonly Member[], command: PlayCommand): Promise<Played> {
  const log = new Log();
  const stops = members.flatMap((member) =>
    Object.entries(member.channels).map(([name, channel]) =>
      channel.on("message", (message) => log.take(name, message)),
    ),
  );
  await Promise.all(members.map((member, place) => perform(log, member, place / members.length, command)));
  const others = members.length - 1;
  const [due, transactionsDue] = [log.sent * others, log.transactionsSent * others];
  const end = performance.now() + command.patience_ms;
  const isDone = () => log.latencies.length >= due && log.transactions.length >= transactionsDue;
  while (!isDone() && performance.now() < end) await pause(5);
  stops.forEach((stop) => stop());
  const { sent, latencies, transactions, wrong } = log;
  return { sent, due, latencies, transactions_due: transactionsDue, transactions, wrong };
}

/**
 * The participants' steps are spread over the interval, because people do not move at the same
 * moment.
 */
async function perform(log: Log, member: Member, phase: number, { app, ms }: PlayCommand): Promise<void> {
  const start = performance.now() + phase * STEP_MS;
  const piece = Math.floor(start);
  for (let step = 0; step * STEP_MS < ms; step++) {
    await pause(start + step * STEP_MS - performance.now());
    for (const [channel, value, key] of messages(app, step, phase, piece)) {
      const text = JSON.stringify(value);
      log.note(member, channel, text);
      const sent = member.channel(channel).send(text, key === undefined ? {} : { key });
      if (sent === "not-now") log.wrong ??= `${channel}: not now`;
    }
  }
}

type Sending = readonly [channel: string, value: object, key?: string];

function messages(app: App, step: number, phase: number, piece: number): Sending[] {
  // A circle in 9 s, so that a position does not occur again while its first copy may be on its
  // way.
  const angle = (step * STEP_MS * 2 * Math.PI) / 9000 + phase * 2 * Math.PI;
  const [x, y] = [Math.round(800 + 300 * Math.cos(angle)), Math.round(500 + 300 * Math.sin(angle))];
  const pointer: Sending = ["pointer", { x, y }];
  const isDone = step % STEPS_PER_ACTION === STEPS_PER_ACTION - 1;
  const id = `${piece}-${Math.floor(step / STEPS_PER_ACTION)}`;
  switch (app) {
    case "pointer":
      return [pointer];
    case "whiteboard": {
      const from = step % STEPS_PER_ACTION;
      const stroke: Sending = ["stroke", { id, color: 3, width: 4, from, points: [x, y] }];
      const done: Sending = ["draw", { op: "add", shape: { id, kind: "stroke", color: 3, width: 4, points: [x, y] } }];
      return isDone ? [pointer, stroke, done] : [pointer, stroke];
    }
    case "puzzle": {
      const drag: Sending = ["drag", { id, look: { x: x - 20, y: y - 12 } }, id];
      const drop: Sending = ["draw", { op: "drop", id, x: x - 20, y: y - 12 }];
      return isDone ? [pointer, drag, drop] : [pointer, drag];
    }
  }
}
