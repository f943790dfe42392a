/**
 * A participant of the experiment `contract`: sends the messages of a script, and records when
 * messages arrive.
 */

import { connect, type Channel, type ConnectOptions, type Room } from "groupwire";
import { synced } from "./join";
import type { Acted, ActCommand, AttendCommand } from "./protocol";
import { pause } from "./time";

/** Time limit (ms) for joining, the same as for native participants. */
const JOINING_MS = 30_000;

export class Performer {
  private failure: string | null = null;
  /**
   * For each channel, in the order of `channels`: true if an event said that its contract is not
   * met.
   */
  private readonly told: boolean[];

  private constructor(
    private readonly room: Room,
    private readonly channels: readonly Channel[],
    private readonly isBinary: readonly boolean[],
  ) {
    this.told = channels.map(() => false);
    room.on("error", ({ message }) => this.fail(message));
    room.on("gap", ({ reason }) => this.fail(`a gap: ${reason}`));
    channels.forEach((channel, place) =>
      channel.on("contract", ({ state }) => {
        if (state !== "met") this.told[place] = true;
      }),
    );
  }

  static async attend({ server, room, transport, channels }: AttendCommand): Promise<Performer> {
    const joined = connect(server, room, { transports: [transport] } as ConnectOptions);
    const opened = channels.map(({ name, qos }) => joined.channel(name, qos));
    await synced(joined, JOINING_MS);
    return new Performer(
      joined,
      opened,
      channels.map(({ binary }) => binary),
    );
  }

  async act({ start, ms, actions, changes }: ActCommand): Promise<Acted> {
    const now = (): number => performance.timeOrigin + performance.now() - start;
    const arrivals: [number, string][] = [];
    const stops = this.channels.map((channel) =>
      channel.on("message", ({ data, own }) => {
        if (!own) arrivals.push([now(), textOf(data)]);
      }),
    );
    const sent: number[] = [];
    let changed = 0;
    for (;;) {
      for (let change = changes[changed]; change && change.at <= now(); change = changes[++changed]) {
        const { kind: _, ...qos } = change.qos;
        this.channel(change.channel).setQos(qos);
      }
      for (let action = actions[sent.length]; action && action.at <= now(); action = actions[sent.length]) {
        sent.push(now());
        const { channel, text, key } = action;
        const message = this.isBinary[channel] ? bytesOf(text) : text;
        const outcome = this.channel(channel).send(message, key === null ? {} : { key });
        if (outcome === "not-now") this.fail("a message was not taken");
      }
      const next = Math.min(actions[sent.length]?.at ?? ms, changes[changed]?.at ?? ms, ms);
      if (now() >= ms) break;
      await pause(next - now());
    }
    stops.forEach((stop) => stop());
    return { sent, arrivals, told: this.told, failure: this.failure };
  }

  leave(): void {
    this.room.leave();
  }

  private channel(place: number): Channel {
    const channel = this.channels[place];
    if (!channel) throw new Error(`there is no channel ${place}`);
    return channel;
  }

  private fail(why: string): void {
    this.failure ??= why;
  }
}

/** The bytes that commands write as characters. */
function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

/** The text of a message as answers have it: bytes as characters below 256. */
function textOf(data: string | Uint8Array): string {
  return typeof data === "string" ? data : String.fromCharCode(...data);
}
