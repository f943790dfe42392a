import type { ChannelOptions } from "./api.js";

/** A channel on which the newest value matters and some messages may be lost: pointers, drags, typing marks. */
export function awareness(options: Omit<ChannelOptions, "kind"> = {}): ChannelOptions {
  return { ...options, kind: "awareness" };
}

/** A channel whose every message reaches everybody, once, in one order: edits, moves, chat. */
export function transaction(options: Omit<ChannelOptions, "kind"> = {}): ChannelOptions {
  return { ...options, kind: "transaction" };
}
