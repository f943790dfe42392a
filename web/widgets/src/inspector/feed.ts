/** The requests of the inspector to the server. */

import { headers, Refused, request, type Access } from "../shared/access.js";
import type { Recording, Report, Rooms, Templates } from "./report.js";

/** Milliseconds between two attempts to connect. */
const RETRY_MS = 1500;

export const rooms = (access: Access): Promise<Rooms> => ask(access, "inspect/rooms");

export const templates = (access: Access, room: string, participant: number): Promise<Templates> =>
  ask(access, `inspect/templates?room=${encodeURIComponent(room)}&participant=${participant}`);

export const record = (access: Access, room: string, on: boolean): Promise<Recording> =>
  ask(access, `inspect/record?room=${encodeURIComponent(room)}`, { on });

export const emulate = (access: Access, room: string, participant: number, loss: number, delay: number) =>
  ask<unknown>(access, `emulation?room=${encodeURIComponent(room)}&participant=${participant}`, {
    loss,
    delay_ms: delay,
  });

/**
 * Receives the reports of one room until `signal` is aborted. Reconnects when the connection or the
 * room was lost.
 */
export async function follow(
  access: Access,
  room: string,
  signal: AbortSignal,
  on: { readonly report: (report: Report) => void; readonly trouble: (error: unknown) => void },
): Promise<void> {
  while (!signal.aborted) {
    try {
      const answer = await fetch(`${access.server}inspect/stream?room=${encodeURIComponent(room)}`, {
        headers: headers(access),
        signal,
      });
      if (!answer.ok || !answer.body) throw new Refused(answer.status, (await answer.text()).trim());
      const events = new Events((data) => on.report(JSON.parse(data) as Report));
      const decoder = new TextDecoder();
      const reader = answer.body.getReader();
      for (let read = await reader.read(); !read.done; read = await reader.read()) {
        events.take(decoder.decode(read.value, { stream: true }));
      }
      on.trouble(new Error("The room is closed."));
    } catch (error) {
      if (signal.aborted) return;
      on.trouble(error);
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

/** Parses server-sent events; only their data is used. */
export class Events {
  private rest = "";

  constructor(private readonly each: (data: string) => void) {}

  take(text: string): void {
    this.rest += text;
    for (let end = this.rest.indexOf("\n\n"); end >= 0; end = this.rest.indexOf("\n\n")) {
      const event = this.rest.slice(0, end);
      this.rest = this.rest.slice(end + 2);
      const data = event.split("\n").filter((line) => line.startsWith("data:"));
      if (data.length > 0) this.each(data.map((line) => line.slice(5).trimStart()).join("\n"));
    }
  }
}

async function ask<T>(access: Access, path: string, body?: object): Promise<T> {
  const answer = await request(access, path, body ? { method: "POST", body } : {});
  return (await answer.json()) as T;
}
