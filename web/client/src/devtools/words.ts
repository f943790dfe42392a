/** Figures and settings in words. */

import type { ChannelTraffic, Contract, Qos } from "../api.js";

/** Bytes in a few characters: "950 B", "1.2 kB", "3.4 MB". */
export function bytes(count: number): string {
  if (count < 1000) return `${Math.round(count)} B`;
  const isLarge = count >= 1e6;
  const value = count / (isLarge ? 1e6 : 1000);
  return `${value.toFixed(value < 10 ? 1 : 0)} ${isLarge ? "MB" : "kB"}`;
}

/** A rate in a few characters: "0", "0.5", "24". */
export function rate(perSecond: number): string {
  if (perSecond === 0) return "0";
  return perSecond < 10 ? perSecond.toFixed(1) : `${Math.round(perSecond)}`;
}

export function percent(share: number): string {
  const value = share * 100;
  return `${value === 0 || value >= 10 ? Math.round(value) : value.toFixed(1)} %`;
}

export function ms(milliseconds: number | undefined): string {
  return milliseconds === undefined ? "not measured yet" : `${milliseconds.toFixed(milliseconds < 10 ? 1 : 0)} ms`;
}

/** The time of day with milliseconds, so that packets can be told apart. */
export function clock(at: number, withMs = false): string {
  const date = new Date(at);
  const two = (value: number): string => `${value}`.padStart(2, "0");
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  return withMs ? `${time}.${`${date.getMilliseconds()}`.padStart(3, "0")}` : time;
}

/** A time span in a few characters: "4 s", "3 min", "2 h". */
export function span(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  if (seconds < 60) return `${seconds} s`;
  return seconds < 3600 ? `${Math.floor(seconds / 60)} min` : `${Math.floor(seconds / 3600)} h`;
}

/** What a channel promises. */
export function promise({ kind, loss, deadline, minRate, maxRate, overflow, priority, private: own }: Qos): string {
  const parts = [
    kind === "transaction" ? "every message, in one order" : `at most ${percent(loss ?? 0.05)} may miss`,
    deadline !== undefined && `within ${deadline} ms`,
    Boolean(minRate) && `at least ${minRate} a second`,
    Boolean(maxRate) && `at most ${maxRate} a second`,
    kind === "awareness" && (overflow ?? "conflate") === "conflate" && "newest value of each key",
    overflow === "aggregate" && Boolean(maxRate) && "fewer packets above the rate",
    priority !== undefined && priority !== 128 && `priority ${priority}`,
    own && "compressed alone",
  ];
  return parts.filter((part) => part !== false && part !== undefined).join(", ");
}

/** How well the promise is kept, for the messages that arrive here. */
export function kept({ recent, rate: received, latency }: Contract): string {
  const share = recent.judged > 0 ? recent.missed / recent.judged : 0;
  const parts = [
    recent.judged > 0
      ? `${percent(share)} of ${recent.judged} missed in 10 s${recent.late > 0 ? `, ${recent.late} of them late` : ""}`
      : "nothing to judge in the last 10 s",
    received !== undefined && `${rate(received)} a second`,
    latency.median !== undefined && `median ${ms(latency.median)}`,
    latency.p99 !== undefined && `99th percentile ${ms(latency.p99)}`,
  ];
  return parts.filter((part) => part !== false).join(", ");
}

/** All messages of a channel in one direction, and their bytes as programs sent them. */
export function total(traffic: ChannelTraffic | undefined): { readonly messages: number; readonly bytes: number } {
  const { messages = 0, codedMessages = 0, bytesBefore = 0, codedBytes = 0 } = traffic ?? {};
  return { messages: messages + codedMessages, bytes: bytesBefore + codedBytes };
}

/** A count with its noun: "1 message", "3 messages". */
export function many(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** A value in one short line. */
export function short(value: unknown): string {
  const text = typeof value === "string" ? value : (tryJson(value) ?? String(value));
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

function tryJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
