/**
 * The commands of the lab and the page's answers, in the order of
 * `lab/experiments/src/browsers/protocol.rs`.
 */

import type { Qos } from "groupwire";

export type App = "whiteboard" | "puzzle" | "pointer";

export type Command =
  | { readonly do: "join"; readonly transport: string; readonly room: string; readonly servers: readonly string[] }
  | ({ readonly do: "send" } & SendCommand)
  | ({ readonly do: "expect" } & ReceiveCommand)
  | ({ readonly do: "receive" } & ReceiveCommand)
  | ({ readonly do: "play" } & PlayCommand)
  | ({ readonly do: "bare" } & BareCommand)
  | ({ readonly do: "attend" } & AttendCommand)
  | ({ readonly do: "act" } & ActCommand)
  | { readonly do: "leave" };

/** The number of the command that an answer belongs to. */
export type Numbered<T> = T & { readonly number: number };

export interface SendCommand {
  readonly member: number;
  /** Identifies the load, because messages of earlier loads may still arrive. */
  readonly run: number;
  readonly count: number;
  readonly size: number;
  /** Milliseconds between messages; 0 sends as fast as the client accepts them. */
  readonly every_ms: number;
  /** True for values that replace each other (awareness), false for transactions. */
  readonly latest: boolean;
  /** Time limit in milliseconds. */
  readonly ms: number;
}

export interface ReceiveCommand {
  readonly member: number;
  readonly run: number;
  readonly size: number;
  readonly latest: boolean;
  /** With `latest` how long to count, otherwise how long to wait for the last message. */
  readonly ms: number;
}

export interface PlayCommand {
  readonly app: App;
  readonly members: readonly number[];
  readonly ms: number;
  /** How long to wait at the end for messages that are still on their way. */
  readonly patience_ms: number;
}

/** Sends or receives a load by a technique of the WEB paper. The answer is that of `receive`. */
export interface BareCommand {
  readonly technique: "websocket" | "multipart" | "iframe" | "longpoll";
  /** True if the page sends. */
  readonly is_up: boolean;
  readonly server: string;
  readonly run: number;
  readonly count: number;
  readonly size: number;
  /** Time limit in milliseconds. */
  readonly ms: number;
}

/** Joins a room, to {@link ActCommand act} in it. */
export interface AttendCommand {
  readonly transport: string;
  readonly room: string;
  readonly server: string;
  readonly channels: readonly {
    readonly name: string;
    readonly qos: Qos;
    /** True for channels of bytes, which commands and answers write as characters below 256. */
    readonly binary: boolean;
  }[];
}

export interface ActCommand {
  /**
   * When the script begins: milliseconds since 1970. All times of the script and of the answer
   * count from then.
   */
  readonly start: number;
  /** The duration of the script in ms. */
  readonly ms: number;
  /** The messages to send, each with the index of its channel in {@link AttendCommand.channels}. */
  readonly actions: readonly {
    readonly at: number;
    readonly channel: number;
    readonly key: string | null;
    readonly text: string;
  }[];
  /** The changes of a channel's QoS. */
  readonly changes: readonly { readonly at: number; readonly channel: number; readonly qos: Qos }[];
}

export type Reply =
  | { readonly did: "join"; readonly ms: readonly number[]; readonly transport: string }
  | { readonly did: "send"; readonly messages: number }
  | { readonly did: "expect" }
  | ({ readonly did: "receive" } & Received)
  | ({ readonly did: "play" } & Played)
  | { readonly did: "attend" }
  | ({ readonly did: "act" } & Acted)
  | { readonly did: "leave" }
  | { readonly did: "fail"; readonly why: string };

export interface Received {
  readonly messages: number;
  /** The number of tasks in which messages arrived. */
  readonly arrivals: number;
  /** Milliseconds from the first to the last message. */
  readonly span_ms: number;
  /** True if the last message of the run has arrived. */
  readonly complete: boolean;
  /** The first error. */
  readonly wrong: string | null;
}

export interface Played {
  /** Awareness messages sent, and the number of deliveries that should follow. */
  readonly sent: number;
  readonly due: number;
  readonly latencies: readonly number[];
  readonly transactions_due: number;
  readonly transactions: readonly number[];
  readonly wrong: string | null;
}

export interface Acted {
  /** When each message of the script was sent. */
  readonly sent: readonly number[];
  /** When each message of others came, and its content. */
  readonly arrivals: readonly (readonly [at: number, text: string])[];
  /** For each channel, whether an event reported that its contract is not kept. */
  readonly told: readonly boolean[];
  /** The first failure of the connection. */
  readonly failure: string | null;
}
