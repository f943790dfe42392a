/** Rooms whose presence, channels and shared data have schemas. */

import type {
  Channel,
  ChannelOptions,
  ConnectOptions,
  Message,
  Participant,
  Payload,
  Room,
  Receipt,
  SendOptions,
  Sent,
} from "../api.js";
import { check, checkOptions, must } from "../arguments.js";
import { failure } from "../errors.js";
import { guarded } from "../events.js";
import { Checker, mark, unmark, type Checked, type Invalid, type Versions } from "./check.js";
import type { InputOf, OutputOf, StandardSchema } from "./standard.js";

/** A schema, or one with a version. */
export type SchemaDefinition = StandardSchema | VersionedSchema;

export interface VersionedSchema<Schema extends StandardSchema = StandardSchema> extends Versions {
  readonly schema: Schema;
}

/**
 * The QoS of a channel and, for messages that are JSON, their schema: `{ ...transaction(), schema:
 * Chat }`.
 */
export interface ChannelDefinition extends ChannelOptions, Versions {
  readonly schema?: StandardSchema;
}

/** Shared data, as `shared` of `groupwire/shared` describes it. */
export interface SharedDefinition<Shared = unknown> {
  open(room: Room, options?: { readonly invalid: (invalid: Invalid) => void }): Shared;
}

/** What {@link defineRoom} takes. */
export interface RoomDefinition {
  readonly presence?: SchemaDefinition;
  readonly channels?: Readonly<Record<string, ChannelDefinition>>;
  readonly shared?: SharedDefinition;
}

type SchemaOf<Definition> = Definition extends { readonly schema: infer Schema } ? Schema : Definition;
/** The presence that participants of these rooms set. */
export type PresenceIn<D extends RoomDefinition> = InputOf<SchemaOf<D["presence"]>>;
/** The presence of others, as the schema makes it. */
export type PresenceOut<D extends RoomDefinition> = OutputOf<SchemaOf<D["presence"]>>;
/** The shared data of these rooms. */
export type SharedOf<D extends RoomDefinition> =
  D["shared"] extends SharedDefinition<infer Shared> ? Shared : undefined;
/** The channels of these rooms. */
export type ChannelsOf<D extends RoomDefinition> = {
  readonly [Name in keyof D["channels"]]: D["channels"][Name] extends { readonly schema: infer Schema }
    ? TypedChannel<InputOf<Schema>, OutputOf<Schema>>
    : TypedChannel<Payload, unknown>;
};

/** The `connect` of `groupwire`, or of a simulation. */
export type Connect = (url: string | URL, room: string, options: ConnectOptions) => Room;

/** What {@link defineRoom} returns. */
export interface DefinedRoom<D extends RoomDefinition> {
  /**
   * Joins a room.
   *
   * @param connect - `connect` of `groupwire`; in tests that of a simulation
   * @param url - the server
   * @param room - the room's name
   */
  join(
    connect: Connect,
    url: string | URL,
    room: string,
    options?: Omit<ConnectOptions<PresenceIn<D>>, "channels">,
  ): TypedRoom<D>;
}

/** A room with types. */
export interface TypedRoom<D extends RoomDefinition> {
  /** The room itself, for everything that has no schema, and to leave it: `room.leave()`. */
  readonly room: Room;
  /**
   * The other participants. Their presence fits the schema, or is undefined. The map does not
   * change: the room makes another one.
   */
  readonly participants: ReadonlyMap<number, Participant<PresenceOut<D>>>;
  readonly channels: ChannelsOf<D>;
  readonly shared: SharedOf<D>;
  /** The number of messages and presences that were dropped because they did not fit the schema. */
  readonly invalid: number;
  /** Changes this participant's presence. Throws if it does not fit. */
  setPresence(presence: PresenceIn<D>): void;
  /**
   * Calls `listener` for each received value that was dropped because it did not fit. Returns a
   * function that removes the listener.
   */
  onInvalid(listener: (invalid: Invalid) => void): () => void;
}

/** A received message whose data fits the schema. */
export interface TypedMessage<Output> extends Omit<Message, "json" | "data" | "departed"> {
  readonly value: Output;
}

/** A channel whose messages are JSON that fits a schema. */
export interface TypedChannel<Input, Output> {
  /** The channel itself, for everything but messages, such as its end: `channel.close()`. */
  readonly channel: Channel;
  /** Sends a message. Throws if it does not fit, or can never be sent. */
  send(value: Input, options?: SendOptions): Sent;
  /**
   * Sends a message to one participant (`Channel.sendTo`). Throws if it does not fit, or can never
   * be sent.
   */
  sendTo(participant: number, value: Input): Promise<Receipt>;
  /**
   * Calls `listener` for each message that fits, or (`direct`) for each that was sent to this
   * participant alone. Returns a function that removes the listener.
   */
  on(event: "message" | "direct", listener: (message: TypedMessage<Output>) => void): () => void;
}

/**
 * Describes rooms: the schemas of presence, channels and shared data. Received values are checked,
 * and dropped if they do not fit.
 *
 * @example
 * ```ts
 * const board = defineRoom({
 *   presence: z.object({ name: z.string() }),
 *   channels: { chat: { ...transaction(), schema: z.object({ text: z.string() }) } },
 * });
 * const { channels } = board.join(connect, "wss://example.com", "demo", { presence: { name: "Ada" } });
 * channels.chat.on("message", ({ value }) => show(value.text));
 * ```
 */
export function defineRoom<const D extends RoomDefinition>(definition: D): DefinedRoom<D> {
  checkOptions(definition, { presence: schema, channels: "object", shared: sharedData }, "`defineRoom`");
  const presence = checkerOf("presence", definition.presence);
  const channels = Object.entries(definition.channels ?? {}).map(([name, channel]) => {
    check(channel, "object", `the channel "${name}" of \`defineRoom\``);
    const { schema, version, upgrade, ...qos } = channel;
    return [name, qos, new Checker(name, schema as StandardSchema | undefined, versions(version, upgrade))] as const;
  });
  return {
    join(connect, url, name, given = {}) {
      check(connect, "function", "`connect` of `join`");
      check(given, "object", "the options of `join`");
      const { presence: own, ...options } = given;
      if ("channels" in options)
        throw failure("invalid-argument", "own", "`join` takes no `channels`: name them in `defineRoom`");
      if (own !== undefined) presence.write(own);
      const room = connect(url, name, {
        ...options,
        ...(own !== undefined && { presence: mark(own, presence.version) }),
        channels: Object.fromEntries(channels.map(([name, qos]) => [name, qos])),
      });
      check(
        (room as Partial<Room> | null | undefined)?.channel,
        "function",
        "`channel` of what `connect` of `join` returns",
      );
      return new OpenRoom(room, presence, channels, definition.shared) as unknown as TypedRoom<D>;
    },
  };
}

type Channels = readonly (readonly [name: string, qos: ChannelOptions, checker: Checker])[];

class OpenRoom {
  readonly room: Room;
  readonly channels: Readonly<Record<string, CheckedChannel>>;
  readonly shared: unknown;
  invalid = 0;
  readonly #presence: Checker;
  readonly #listeners = new Set<(invalid: Invalid) => void>();
  /** The checked form of each participant object of the room. */
  readonly #seen = new WeakMap<Participant, Participant>();
  #raw: ReadonlyMap<number, Participant> | undefined;
  #participants: ReadonlyMap<number, Participant> = new Map();

  constructor(room: Room, presence: Checker, channels: Channels, shared: SharedDefinition | undefined) {
    this.room = room;
    this.#presence = presence;
    const report = (invalid: Invalid): void => this.#report(invalid);
    this.channels = Object.fromEntries(
      channels.map(([name, , checker]) => [name, new CheckedChannel(room.channel(name), checker, report)]),
    );
    this.shared = shared?.open(room, { invalid: report });
    room.on("participants", () => this.participants);
  }

  get participants(): ReadonlyMap<number, Participant> {
    const raw = this.room.participants;
    if (raw === this.#raw) return this.#participants;
    this.#raw = raw;
    return (this.#participants = new Map([...raw].map(([id, participant]) => [id, this.#check(participant)])));
  }

  setPresence(presence: unknown): void {
    this.#presence.write(presence);
    this.room.setPresence(mark(presence, this.#presence.version));
  }

  onInvalid(listener: (invalid: Invalid) => void): () => void {
    check(listener, "function", "the listener of `onInvalid`");
    const entry = (invalid: Invalid): void => listener(invalid);
    this.#listeners.add(entry);
    return () => void this.#listeners.delete(entry);
  }

  #check(participant: Participant): Participant {
    const known = this.#seen.get(participant);
    if (known) return known;
    const { value, fault } = { value: undefined, ...this.#presence.read(...unmark(participant.presence)) };
    // A participant without a presence has not sent an invalid one.
    if (fault && participant.presence !== undefined) {
      this.#report({ where: "presence", sender: participant.id, ...fault });
    }
    const checked = { ...participant, presence: value };
    this.#seen.set(participant, checked);
    return checked;
  }

  #report(invalid: Invalid): void {
    this.invalid += 1;
    for (const listener of this.#listeners) guarded(() => listener(invalid));
  }
}

class CheckedChannel implements TypedChannel<unknown, unknown> {
  readonly #checker: Checker;
  readonly #report: (invalid: Invalid) => void;

  constructor(
    readonly channel: Channel,
    checker: Checker,
    report: (invalid: Invalid) => void,
  ) {
    this.#checker = checker;
    this.#report = report;
  }

  send(value: unknown, options?: SendOptions): Sent {
    return this.channel.send(this.#write(value), options);
  }

  sendTo(participant: number, value: unknown): Promise<Receipt> {
    return this.channel.sendTo(participant, this.#write(value));
  }

  on(event: "message" | "direct", listener: (message: TypedMessage<unknown>) => void): () => void {
    check(event, ["message", "direct"], "an event of a channel with types");
    check(listener, "function", `the listener for "${event}"`);
    return this.channel.on(event as "message", (message) => {
      // The server's entry about a departure has no data: applications that need it listen on
      // `channel`.
      if (message.departed !== undefined) return;
      const read = this.#read(message);
      if (read.fault) return this.#report({ where: this.channel.name, sender: message.sender, ...read.fault });
      const { sender, own, key, age, position, index, stale, state } = message;
      listener({ value: read.value, sender, own, key, age, position, index, stale, state });
    });
  }

  #write(value: unknown): Payload {
    // Without a schema, any payload travels as it is.
    if (!this.#checker.schema) return value as Payload;
    this.#checker.write(value);
    return JSON.stringify(mark(value, this.#checker.version));
  }

  #read(message: Message): Checked<unknown> {
    if (!this.#checker.schema) return { value: message.data };
    let json: unknown;
    try {
      json = message.json();
    } catch {
      return { fault: { reason: "json", message: "it is no JSON", data: message.data } };
    }
    return this.#checker.read(...unmark(json));
  }
}

const schema = must("a schema", (value) => Object(value) === value);
const sharedData = (value: unknown): void =>
  check((value as Partial<SharedDefinition> | null)?.open, "function", "`open` of `shared` of `defineRoom`");

function checkerOf(where: string, definition: SchemaDefinition | undefined): Checker {
  const { schema, version, upgrade } =
    definition && "schema" in definition ? definition : { schema: definition as StandardSchema | undefined };
  return new Checker(where, schema as StandardSchema | undefined, versions(version, upgrade));
}

function versions(version: number | undefined, upgrade: Versions["upgrade"]): Versions {
  return { ...(version !== undefined && { version }), ...(upgrade && { upgrade }) };
}
