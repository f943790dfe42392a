import type { ChannelOptions } from "./api.js";

/**
 * The options of a channel for pointers, drags and typing marks: only the newest value matters, and
 * some may be lost.
 */
export function awareness(options: Omit<ChannelOptions, "kind"> = {}): ChannelOptions {
  return { ...options, kind: "awareness" };
}

/**
 * The options of a channel for edits, moves and chat: every message reaches everybody, once and in
 * one order.
 */
export function transaction(options: Omit<ChannelOptions, "kind"> = {}): ChannelOptions {
  return { ...options, kind: "transaction" };
}
