/**
 * The three participants of the comparison page: one that sends the pointer, and two that receive
 * it over different transports.
 */

import { awareness, connect, type Message, type Room, type TransportName } from "groupwire";
import { isRecord } from "../../../common/parse";
import type { Position } from "./source";
import type { Made } from "./timeline";

/** The message of the pointer: its position, and when it was made. */
export interface PointerMessage extends Position {
  readonly time: number;
}

/**
 * Messages per second: twice the rate of a room with 25 ticks a second, so that each tick sends a
 * fresh position.
 */
const RATE = 50;

const CHANNEL = "pointer";
const QOS = awareness({ maxRate: RATE, loss: 0.05 });

export class Sender {
  readonly room: Room;
  private readonly channel;

  constructor(
    server: string,
    room: string,
    where: (now: number) => Position,
    private readonly made: Made,
    awake: (now: number) => void,
  ) {
    // The sender does not use the emulated path, because only the path to the receivers is
    // compared.
    this.room = connect(server, room, { transports: ["websocket"] });
    this.channel = this.room.channel(CHANNEL, QOS);
    setInterval(() => {
      awake(performance.now());
      // A resting pointer is sent, too, so that silence means that nothing arrives.
      if (!document.hidden && this.room.status === "connected") this.send(where);
    }, 1000 / RATE);
  }

  private send(where: (now: number) => Position): void {
    const time = Math.round(performance.now() * 10) / 10;
    const { x, y } = where(time);
    this.made.add(time);
    this.channel.send({ x: Math.round(x), y: Math.round(y), time }, { key: "pointer" });
  }
}

export class Receiver {
  readonly room: Room;

  /** `sender` returns the id of the participant whose messages are shown, once it is known. */
  constructor(
    server: string,
    room: string,
    readonly transport: TransportName,
    sender: () => number | undefined,
    receive: (said: PointerMessage, now: number) => void,
  ) {
    const asking = new URL(server);
    // Asks for the path that is emulated for the room (docs/operations/administration.md).
    asking.searchParams.set("emulate", "");
    this.room = connect(asking, room, { transports: [transport] });
    // The page itself shows errors that follow from the emulated network.
    this.room.on("error", ({ message }) => console.warn(message));
    this.room.channel(CHANNEL, QOS).on("message", (message) => {
      const said = message.sender === sender() && !message.state ? read(message) : undefined;
      if (said) receive(said, performance.now());
    });
  }
}

function read(message: Message): PointerMessage | undefined {
  let value: unknown;
  try {
    value = message.json();
  } catch {
    return undefined;
  }
  if (!isRecord(value)) return undefined;
  const { x, y, time } = value;
  const areNumbers = [x, y, time].every((number) => typeof number === "number" && Number.isFinite(number));
  return areNumbers ? (value as unknown as PointerMessage) : undefined;
}
