/** Three participants in one page: one whose pointer moves, and two who see it, each over a transport of its own. */

import { awareness, connect, type Message, type Room, type TransportName } from "groupwire";
import { isRecord } from "../../../common/parse";
import type { Position } from "./source";
import type { Made } from "./timeline";

/** What the pointer's owner says: where, and when that was. */
export interface Said extends Position {
  readonly time: number;
}

/** Twice as often as a room of 25 ticks a second passes on, so that what it passes on is fresh. */
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
    // Straight to the server: what is to be seen happens between the server and the receivers.
    this.room = connect(server, room, { transports: ["websocket"] });
    this.channel = this.room.channel(CHANNEL, QOS);
    setInterval(() => {
      awake(performance.now());
      // A resting pointer speaks, too: then silence means that nothing comes through.
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

  /** `sender`: whom it looks at, as soon as that is known. */
  constructor(
    server: string,
    room: string,
    readonly transport: TransportName,
    sender: () => number | undefined,
    receive: (said: Said, now: number) => void,
  ) {
    const asking = new URL(server);
    // Over the path that the room has on the server's side (docs/operations.md).
    asking.searchParams.set("emulate", "");
    this.room = connect(asking, room, { transports: [transport] });
    // Until the path is set as asked, and when it is set worse, the page says so itself.
    this.room.on("error", ({ message }) => console.warn(message));
    this.room.channel(CHANNEL, QOS).on("message", (message) => {
      const said = message.sender === sender() && !message.state ? read(message) : undefined;
      if (said) receive(said, performance.now());
    });
  }
}

function read(message: Message): Said | undefined {
  let value: unknown;
  try {
    value = message.json();
  } catch {
    return undefined;
  }
  if (!isRecord(value)) return undefined;
  const { x, y, time } = value;
  const areNumbers = [x, y, time].every((number) => typeof number === "number" && Number.isFinite(number));
  return areNumbers ? (value as unknown as Said) : undefined;
}
