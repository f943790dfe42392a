/** What the lab asks a page to do, and what it answers: `crates/lab/src/web/protocol.rs`, in the same order. */

export type App = "whiteboard" | "puzzle" | "pointer";

export type Command =
  | { readonly do: "join"; readonly transport: string; readonly room: string; readonly servers: readonly string[] }
  | ({ readonly do: "send" } & SendCommand)
  | ({ readonly do: "expect" } & ReceiveCommand)
  | ({ readonly do: "receive" } & ReceiveCommand)
  | ({ readonly do: "play" } & PlayCommand)
  | { readonly do: "leave" };

/** An answer says to which command it is one. */
export type Numbered<T> = T & { readonly number: number };

export interface SendCommand {
  readonly member: number;
  /** Names this load: others may still be under way. */
  readonly run: number;
  readonly count: number;
  readonly size: number;
  /** 0: as fast as the client takes them. */
  readonly every_ms: number;
  /** Values that replace each other instead of transactions. */
  readonly latest: boolean;
  /** No longer than that. */
  readonly ms: number;
}

export interface ReceiveCommand {
  readonly member: number;
  readonly run: number;
  readonly size: number;
  readonly latest: boolean;
  /** Of values that replace each other: how long to count. Else: how long to wait for the last message. */
  readonly ms: number;
}

export interface PlayCommand {
  readonly app: App;
  readonly members: readonly number[];
  readonly ms: number;
  /** How long to wait afterwards for what is still under way. */
  readonly patience_ms: number;
}

export type Reply =
  | { readonly did: "join"; readonly ms: readonly number[]; readonly transport: string }
  | { readonly did: "send"; readonly messages: number }
  | { readonly did: "expect" }
  | ({ readonly did: "receive" } & Received)
  | ({ readonly did: "play" } & Played)
  | { readonly did: "leave" }
  | { readonly did: "fail"; readonly why: string };

export interface Received {
  readonly messages: number;
  /** Turns of the event loop in which anything came. */
  readonly arrivals: number;
  /** From the first to the last. */
  readonly span_ms: number;
  /** The last one of its run has come. */
  readonly complete: boolean;
  /** What was wrong first. */
  readonly wrong: string | null;
}

export interface Played {
  /** Awareness messages sent, and how often they should have come. */
  readonly sent: number;
  readonly due: number;
  readonly latencies: readonly number[];
  readonly transactions_due: number;
  readonly transactions: readonly number[];
  readonly wrong: string | null;
}
