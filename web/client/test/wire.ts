/**
 * The server's side of docs/wire as far as the tests need it: writes what the server sends, reads
 * what the client sends.
 */

export const HELLO = 0x01;
export const OPEN = 0x03;
export const MESSAGES = 0x06;
export const PRESENCE = 0x09;
export const PAGE_WANTED = 0x35;
export const SNAPSHOT = 0x0b;
export const BYE = 0x11;
export const CODECS = 0x19;
export const TOKEN = 0x2b;
export const COMPRESS = 0x1a;

export interface Frame {
  readonly type: number;
  readonly payload: Uint8Array;
}

/** The frames of a packet, which must not be an opening. */
export function frames(packet: Uint8Array): Frame[] {
  const result: Frame[] = [];
  for (let at = 0; at < packet.length;) {
    const tag = packet[at] ?? 0;
    const [length, start] = tag & 0x80 ? [packet.length - at - 1, at + 1] : readVarint(packet, at + 1);
    result.push({ type: tag & 0x3f, payload: packet.subarray(start, start + length) });
    at = start + length;
  }
  return result;
}

export interface Welcome {
  readonly participant?: number;
  readonly incarnation?: number;
  /** 0 new, 1 resumed, 2 lost. */
  readonly outcome?: number;
  readonly counter?: number;
}

/** An opening that does not offer compression, so that tests can read the messages. */
export function welcome({ participant = 1, incarnation = 7, outcome = 0, counter = 0 }: Welcome = {}): Uint8Array {
  const limits = [...varint(0), ...varint(65_536), ...varint(60_000), ...varint(1 << 20)];
  const identity = [incarnation, 0, 0, 0, 0, 0, 0, 0, ...varint(participant), ...Array<number>(16).fill(9)];
  const state = [outcome, ...varint(counter), ...varint(0)];
  const timing = [...varint(40), ...varint(2000), ...varint(5000), ...varint(10_000)];
  return packet([1], frame(0x02, [...limits, ...identity, ...state, ...timing]));
}

/**
 * A CHANNEL frame in which the server accepts a channel as transaction (kind 0) or awareness (1).
 */
export function opened(reference: number, id: number, name: string, kind: 0 | 1): number[] {
  const qos = [kind, kind === 1 ? 0 : 1, 128, 0, ...varint(kind * 50), 0, 0, 0];
  return frame(0x04, [...varint(reference), ...varint(id), 3, ...bytes(name), ...qos]);
}

export function refused(reference: number): number[] {
  return frame(0x10, [...varint(9), 3, 0, ...varint(reference), ...bytes("no right to this channel")]);
}

/** An ERROR frame that ends the connection: the token has expired. */
export function expired(): number[] {
  return frame(0x10, [...varint(19), 3, 1, 0, ...bytes("the token has expired")]);
}

export function tokenWanted(): number[] {
  return frame(0x40 | 0x2c, []);
}

export interface Person {
  readonly id: number;
  /** 0 left, 1 here, 2 away. */
  readonly state: number;
  /** The user that the server verified (W100). */
  readonly user?: string;
  readonly presence: string;
}

export function participants(complete: boolean, list: readonly Person[]): number[] {
  const verified = (user: string | undefined) => (user === undefined ? [] : bytes(user));
  const lines = list.flatMap(({ id, state, user, presence }) => [
    ...varint(id),
    user === undefined ? state : state + 4,
    ...verified(user),
    ...bytes(presence),
  ]);
  return frame(0x0a, [Number(complete), ...lines]);
}

/** A COUNT frame (W103). */
export function count(everybody: boolean, people: number): number[] {
  return frame(0x40 | 0x34, [Number(everybody), ...varint(people)]);
}

/** A PAGE frame with people who are here (W105). */
export function page(after: number, last: boolean, people: readonly Omit<Person, "state" | "user">[]): number[] {
  const lines = people.flatMap(({ id, presence }) => [...varint(id), 1, ...bytes(presence)]);
  return frame(0x36, [...varint(after), Number(last), ...lines]);
}

export interface Record {
  readonly channel: number;
  readonly sender: number;
  readonly text?: string;
  readonly data?: readonly number[];
  readonly key?: string;
  readonly own?: boolean;
  /** True if `data` is a compressed message. */
  readonly packed?: boolean;
}

export function messages(...records: readonly Record[]): number[] {
  return frame(
    MESSAGES,
    records.flatMap(({ channel, sender, text, data = [], key, own = false, packed = false }) => {
      const flags = Number(text !== undefined) | (key === undefined ? 0 : 2) | (own ? 16 : 0) | (packed ? 128 : 0);
      const body = text === undefined ? data : [...new TextEncoder().encode(text)];
      const payload = own ? [] : [...(key === undefined ? [] : keyed(key)), ...body];
      return [...varint(channel), ...varint(sender), ...varint(flags), 0, 0, 0, ...varint(payload.length), ...payload];
    }),
  );
}

/** W19: a key, followed by the bytes of the message. */
function keyed(key: string): number[] {
  const encoded = new TextEncoder().encode(key);
  return [...varint(encoded.length + 32), ...encoded];
}

/** A CODECS frame with the codecs that the server reads. */
export function codecs(...numbers: readonly number[]): number[] {
  return frame(0x40 | CODECS, varint(numbers.reduce((set, number) => set + 2 ** number, 0)));
}

/**
 * A ROOM frame: the room stores its transactions (1 local, 2 cluster), and was loaded under this
 * number.
 */
export function stored(durability: number, load: number): number[] {
  return frame(0x40 | 0x28, [durability, load, 0, 0, 0, 0, 0, 0, 0]);
}

export function synced(): number[] {
  return frame(0x0d, [0]);
}

export function snapshotWanted(atLeast: number): number[] {
  return frame(0x0c, [0, ...varint(atLeast)]);
}

export function packet(...parts: readonly (readonly number[])[]): Uint8Array {
  return Uint8Array.from(parts.flat());
}

function frame(type: number, payload: readonly number[]): number[] {
  return [type, ...varint(payload.length), ...payload];
}

function bytes(text: string): number[] {
  const encoded = new TextEncoder().encode(text);
  return [...varint(encoded.length), ...encoded];
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...varint(Math.floor(value / 128))];
}

function readVarint(from: Uint8Array, at: number): readonly [value: number, next: number] {
  const byte = from[at] ?? 0;
  if (byte < 128) return [byte, at + 1];
  const [rest, next] = readVarint(from, at + 1);
  return [(byte & 127) + rest * 128, next];
}
