/**
 * Previews: unfinished changes such as a drag, sent as awareness whose key names the value. A
 * preview ends with the next operation of its sender on the same key.
 */

import type { Channel, Message, Room } from "../api.js";
import { isKept, isRecord } from "./operation.js";

/** The fields of a value that a preview changes. */
export type Patch = Readonly<Record<string, unknown>>;

/** Limit of previews of a participant: nobody changes more at once. */
const MOST = 200;

export class Previews {
  readonly #room: Room;
  readonly #channel: Channel;
  readonly #changed: (name: string, key: string) => void;
  /**
   * This program's previews: all fields since the last operation on the key, because a later
   * preview replaces an earlier one.
   */
  readonly #own = new Map<string, Patch>();
  /** The previews that other participants sent, by name and key, then by sender. */
  readonly #others = new Map<string, Map<number, Patch>>();

  constructor(room: Room, channel: Channel, changed: (name: string, key: string) => void) {
    this.#room = room;
    this.#channel = channel;
    this.#changed = changed;
    channel.on("message", (message) => this.#receive(message));
    room.on("participants", (participants) => this.#keep(participants));
    // After this gap the ids may belong to other participants.
    room.on("gap", ({ reason }) => reason === "incarnation" && this.#keep());
  }

  /** Shows fields to the others; undefined ends it. */
  send(name: string, key: string, patch: Patch | undefined): void {
    const id = idOf(name, key);
    const merged = patch && { ...this.#own.get(id), ...patch };
    if (merged) this.#own.set(id, merged);
    else if (!this.#own.delete(id)) return;
    // A preview that cannot be received now is of no use later.
    if (this.#room.participants.size === 0 || this.#room.status !== "connected") return;
    this.#channel.send(JSON.stringify(merged ?? null), { key: id });
  }

  /** The value with all previews of others applied. */
  apply(name: string, key: string, value: unknown): unknown {
    const senders = this.#others.get(idOf(name, key));
    if (!senders || !isRecord(value)) return value;
    return [...senders.values()].reduce<unknown>((shown, patch) => ({ ...(shown as object), ...patch }), value);
  }

  /** Called when this program performs an operation on a key: ends its preview. */
  performed(name: string, key: string): void {
    this.#own.delete(idOf(name, key));
  }

  /** Called when an operation on a key is ordered: ends the sender's preview. */
  ordered(sender: number, name: string, key: string): void {
    this.#remove(idOf(name, key), sender);
  }

  #receive({ sender, key, data, stale }: Message): void {
    // The operation that ended the preview has overtaken it.
    if (stale || key === undefined) return;
    const patch = parse(data);
    if (!patch) return this.#remove(key, sender);
    const senders = this.#others.get(key) ?? new Map<number, Patch>();
    // The latest preview comes last, so its fields win.
    if (!senders.delete(sender) && [...this.#others.values()].filter((all) => all.has(sender)).length >= MOST) return;
    this.#others.set(key, senders.set(sender, patch));
    this.#notify(key);
  }

  /** Ends the previews of participants that are away or not in the list. */
  #keep(participants?: Room["participants"]): void {
    for (const [id, senders] of this.#others)
      for (const sender of senders.keys()) if (participants?.get(sender)?.away !== false) this.#remove(id, sender);
  }

  #remove(id: string, sender: number): void {
    const senders = this.#others.get(id);
    if (!senders?.delete(sender)) return;
    if (senders.size === 0) this.#others.delete(id);
    this.#notify(id);
  }

  #notify(id: string): void {
    const at = id.indexOf("/");
    this.#changed(id.slice(0, at), id.slice(at + 1));
  }
}

/** Names have no slash. */
function idOf(name: string, key: string): string {
  return `${name}/${key}`;
}

function parse(data: string | Uint8Array): Patch | undefined {
  try {
    const json: unknown = JSON.parse(String(data));
    if (isRecord(json) && isKept(json)) return json;
  } catch {
    // The text is not JSON, so it is no patch either.
  }
  return undefined;
}
