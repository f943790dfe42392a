import { awareness, connect, transaction, type Channel, type ConnectOptions, type Message, type Room } from "groupwire";
import { synced } from "./join";
import { fill, read, type Load } from "./load";
import type { ReceiveCommand, Received, SendCommand } from "./protocol";
import { pause, turn } from "./time";

/** Time limit (ms) for joining: a carrier that polls over the slowest path takes about 2 s. */
const JOINING_MS = 15_000;

/** A participant of a room. */
export class Member {
  private tally: Tally | undefined;
  private stop = (): void => {};
  private complete = (): void => {};

  private constructor(
    readonly room: Room,
    readonly channels: Readonly<Record<string, Channel>>,
    /** The duration of joining. */
    readonly ms: number,
  ) {}

  static async join(server: string, room: string, transport: string): Promise<Member> {
    const start = performance.now();
    const options = { transports: [transport] } as ConnectOptions;
    const joined = connect(server, room, options);
    // The channels of the whiteboard (web/whiteboard/src/net/session.ts), and two for loads. The
    // rate limit is 30 instead of 25 per second, so that pacing does not compensate for late
    // timers.
    const channels = {
      pointer: joined.channel("pointer", awareness({ maxRate: 30, loss: 0.05, deadline: 250 })),
      stroke: joined.channel("stroke", awareness({ overflow: "aggregate", maxRate: 30, loss: 0.02, deadline: 400 })),
      drag: joined.channel("drag", awareness({ maxRate: 30, loss: 0.05, deadline: 250 })),
      draw: joined.channel("draw", transaction({ priority: 200 })),
      bulk: joined.channel("bulk", transaction()),
      latest: joined.channel("latest", awareness()),
    };
    await synced(joined, JOINING_MS);
    return new Member(joined, channels, performance.now() - start);
  }

  get transport(): string {
    return this.room.stats.transport;
  }

  channel(name: string): Channel {
    const channel = this.channels[name];
    if (!channel) throw new Error(`there is no channel ${name}`);
    return channel;
  }

  /** Sends a load. Returns the number of messages that the client accepted. */
  async send({ run, count, size, every_ms, latest, ms }: SendCommand): Promise<number> {
    const channel = this.channel(latest ? "latest" : "bulk");
    const start = performance.now();
    for (let number = 0; number < count; number++) {
      if (performance.now() - start > ms) return number;
      const bytes = fill(size, { number, run, isLast: number === count - 1 });
      while (channel.send(bytes, latest ? { key: "value" } : {}) === "not-now") await this.drained();
      if (every_ms > 0) await pause(start + (number + 1) * every_ms - performance.now());
      else if (latest) await turn();
    }
    return count;
  }

  /** Starts to count the messages of a load. */
  expect({ run, size, latest }: ReceiveCommand): void {
    this.stop();
    const tally = new Tally(run, size, latest);
    this.tally = tally;
    this.stop = this.channel(latest ? "latest" : "bulk").on("message", (message) => {
      if (tally.take(message)) this.complete();
    });
  }

  /** Waits for the load that {@link expect} counts, and returns the counts. */
  async receive({ latest, ms }: ReceiveCommand): Promise<Received> {
    const { tally } = this;
    if (!tally) throw new Error("nothing is expected");
    if (latest) await pause(ms);
    else if (!tally.isComplete) {
      await Promise.race([pause(ms), new Promise<void>((resolve) => (this.complete = resolve))]);
    }
    this.stop();
    return tally.received();
  }

  private drained(): Promise<void> {
    return new Promise((resolve) => {
      const stop = this.room.on("drain", () => {
        stop();
        resolve();
      });
    });
  }
}

/** Counts the received messages of a load. */
class Tally {
  private messages = 0;
  private arrivals = 0;
  private first = 0;
  private last = 0;
  private next = 0;
  private isInTurn = false;
  isComplete = false;
  private wrong: string | null = null;

  constructor(
    private readonly run: number,
    private readonly size: number,
    private readonly latest: boolean,
  ) {}

  /** Returns true for the last message of the load. */
  take({ data, state }: Message): boolean {
    const load = typeof data === "string" ? undefined : read(data);
    if (!load) this.wrong ??= "a message was not as it was sent";
    if (load?.run !== this.run || state) return false;
    this.judge(load, data.length);
    const now = performance.now();
    if (this.messages === 0) this.first = now;
    this.last = now;
    this.messages += 1;
    if (!this.isInTurn) {
      this.arrivals += 1;
      this.isInTurn = true;
      // After all messages of this packet, which are delivered in one task.
      queueMicrotask(() => (this.isInTurn = false));
    }
    this.isComplete ||= load.isLast;
    return load.isLast;
  }

  received(): Received {
    const { messages, arrivals, isComplete: complete, wrong } = this;
    return { messages, arrivals, span_ms: this.last - this.first, complete, wrong };
  }

  private judge({ number }: Load, length: number): void {
    // Values may be skipped, and over datagrams they may be reordered.
    if (!this.latest && number !== this.next) this.wrong ??= `message ${number} came where ${this.next} was due`;
    if (length !== this.size) this.wrong ??= `${length} bytes came of ${this.size}`;
    this.next = number + 1;
  }
}
