/**
 * The requests of the administration's page to the server, and what it answers (`/api/openapi.json`
 * describes them).
 */

import { request, type Access } from "../shared/access.js";

/** The figures at one moment, as `GET /api/history` has kept them. */
export interface Sample {
  readonly uptime_seconds: number;
  readonly cpu_seconds: number | null;
  readonly rss_bytes: number | null;
  readonly connections: number;
  readonly rooms: number;
  readonly participants: number;
  readonly messages_in: number;
  readonly deliveries: number;
  readonly bytes_in_before: number;
  readonly bytes_in_after: number;
  readonly bytes_out_before: number;
  readonly bytes_out_after: number;
  readonly room_memory_bytes: number;
  readonly store: { readonly commits: number } | null;
}

/** What `GET /api/status` tells, as far as it is shown. */
export interface Status extends Sample {
  readonly version: string;
  readonly store: { readonly commits: number; readonly live_bytes: number; readonly state: string } | null;
}

export interface RoomLine {
  readonly name: string;
  readonly is_open: boolean;
  readonly participants: number;
  readonly stored_bytes: number | null;
}

/** What `GET /api/rooms` tells. */
export interface Rooms {
  readonly rooms: readonly RoomLine[];
  /** Servers of a cluster whose open rooms are missing. */
  readonly unanswered?: readonly string[];
}

export interface Person {
  readonly participant: number;
  readonly state: "here" | "away";
  readonly user: string | null;
  readonly transport: string | null;
}

export interface Channel {
  readonly id: number;
  readonly name: string;
  readonly kind: "transaction" | "awareness";
  readonly receivers: number;
  readonly transactions: number;
  readonly transaction_bytes: number;
  readonly values: number;
  readonly value_bytes: number;
  readonly part: { readonly name: string; readonly as_of: number; readonly bytes: number } | null;
  readonly reset: number | null;
}

export interface Message {
  readonly position?: number;
  readonly order?: number;
  readonly sender: number;
  readonly age_ms: number;
  readonly size: number;
  readonly truncated: boolean;
  readonly json?: unknown;
  readonly text?: string;
  readonly base64?: string;
  readonly key?: string;
  readonly key_base64?: string;
}

export interface Snapshot {
  readonly snapshot: number;
  readonly part: string | null;
  readonly is_reset: boolean;
  readonly as_of: number;
  /** Unix time in seconds. */
  readonly taken: number;
  readonly bytes: number;
  readonly is_newest: boolean;
}

export interface Ban {
  readonly id: number;
  readonly user: string | null;
  readonly token: string | null;
  /** Unix time in seconds, as are the following. */
  readonly issued_before: number | null;
  readonly room: string;
  readonly since: number;
  readonly until: number | null;
  readonly reason: string | null;
}

/** A message of the room itself. `key` is that of a value. */
export interface Publication {
  readonly text: string;
  readonly key?: string;
}

export interface Contents extends Channel {
  readonly newest_transactions: readonly Message[];
  readonly newest_values: readonly Message[];
}

/** The requests of one page. */
export class Requests {
  constructor(private readonly access: () => Access) {}

  status(): Promise<Status> {
    return this.read("api/status");
  }

  /** The figures of the last minutes, the oldest first. */
  async history(): Promise<readonly Sample[]> {
    return (await this.read<{ samples: Sample[] }>("api/history")).samples;
  }

  async isReady(): Promise<boolean> {
    return (await fetch(`${this.access().server}readyz`)).ok;
  }

  rooms(): Promise<Rooms> {
    return this.read<Rooms>("api/rooms");
  }

  async people(room: string): Promise<readonly Person[]> {
    return (await this.read<{ participants: Person[] }>(`${of(room)}/participants`)).participants;
  }

  async channels(room: string): Promise<readonly Channel[]> {
    return (await this.read<{ channels: Channel[] }>(`${of(room)}/channels`)).channels;
  }

  contents(room: string, channel: string): Promise<Contents> {
    return this.read(`${of(room)}/channels/${encodeURIComponent(channel)}?limit=20`);
  }

  async kick(room: string, participant: number, ban: string | undefined): Promise<void> {
    const query = ban === undefined ? "" : `?ban=${ban}`;
    await request(this.access(), `${of(room)}/participants/${participant}${query}`, { method: "DELETE" });
  }

  async reset(room: string, channels: readonly string[]): Promise<void> {
    await this.post(`${of(room)}/reset`, { channels });
  }

  /** `attempt` names the request, so that trying again publishes nothing twice. */
  async publish(room: string, channel: string, message: Publication, attempt: string): Promise<void> {
    const path = `${of(room)}/channels/${encodeURIComponent(channel)}/messages`;
    const headers = { "idempotency-key": attempt };
    await request(this.access(), path, { method: "POST", body: message, headers });
  }

  async snapshots(room: string): Promise<readonly Snapshot[]> {
    return (await this.read<{ snapshots: Snapshot[] }>(`${of(room)}/snapshots`)).snapshots;
  }

  /** Makes a snapshot the newest one again, or takes back all that came after a position. */
  async restore(room: string, to: { readonly snapshot: number } | { readonly position: number }): Promise<void> {
    await this.post(`${of(room)}/restore`, to);
  }

  /** The file of one stored room, or of all. */
  async exported(room?: string): Promise<Blob> {
    const path = room === undefined ? "api/export" : `${of(room)}/export`;
    return (await request(this.access(), path)).blob();
  }

  /** Takes all rooms of such a file, and returns their names. */
  async import(file: Blob, isReplacing: boolean): Promise<readonly string[]> {
    const path = `api/import?replace=${isReplacing}`;
    const answer = await request(this.access(), path, { method: "POST", body: file });
    return ((await answer.json()) as { rooms: string[] }).rooms;
  }

  async bans(): Promise<readonly Ban[]> {
    return (await this.read<{ bans: Ban[] }>("api/bans")).bans;
  }

  async unban(ban: number): Promise<void> {
    await request(this.access(), `api/bans/${ban}`, { method: "DELETE" });
  }

  async remove(room: string): Promise<void> {
    await request(this.access(), of(room), { method: "DELETE" });
  }

  async drain(): Promise<void> {
    await this.post("api/drain", {});
  }

  private async read<T>(path: string): Promise<T> {
    return (await (await request(this.access(), path)).json()) as T;
  }

  private post(path: string, body: object): Promise<Response> {
    return request(this.access(), path, { method: "POST", body });
  }
}

const of = (room: string): string => `api/rooms/${encodeURIComponent(room)}`;
