/**
 * An in-memory replacement of the package `groupwire`: rooms that are connected by a `Hub` in the
 * same page, or in the page that frames this one. For tests and for work on the design; it is never
 * shipped.
 */

import type {
  Channel,
  ChannelOptions,
  Compress,
  ConnectOptions,
  Message,
  Participant,
  Payload,
  Qos,
  Room,
  RoomEvents,
  RoomState,
  Receipt,
  SendOptions,
  Sent,
  Stats,
  Status,
  Transport,
  TransportName,
} from "../../client/src/api";

export type * from "../../client/src/api";

export function awareness(options: Omit<ChannelOptions, "kind"> = {}): ChannelOptions {
  return { kind: "awareness", ...options };
}

export function transaction(options: Omit<ChannelOptions, "kind"> = {}): ChannelOptions {
  return { kind: "transaction", ...options };
}

export function connect<P>(_url: string, room: string, options: ConnectOptions<P> = {}): Room<P> {
  const frame = parent as unknown as { groupwireHub?: Hub };
  const hub = (frame.groupwireHub ??= new Hub());
  return new DoubleRoom<P>(hub, room, options.presence);
}

interface Post {
  readonly channel: string;
  readonly data: string | Uint8Array;
  readonly sender: number;
  readonly key: string | undefined;
  readonly position: number;
  readonly index: number;
  readonly madeAt: number;
}

/** A server with one room. Every message takes `delay` milliseconds. */
export class Hub {
  members = new Set<DoubleRoom<unknown>>();
  log: Post[] = [];
  private nextId = 1;
  private incarnation = 1;
  isUp = true;

  constructor(readonly delay = 40) {}

  join(member: DoubleRoom<unknown>): void {
    if (!this.isUp) return;
    const isReturning = member.incarnation !== 0;
    const isLost = isReturning && member.incarnation !== this.incarnation;
    if (!isReturning || isLost) member.become(this.nextId++);
    member.incarnation = this.incarnation;
    this.members.add(member);
    member.setStatus("connected");
    if (isLost) member.emit("gap", { reason: "incarnation", uncertain: 0, channel: undefined });
    for (const post of this.log) member.receive(post, true);
    member.emit("synced", undefined);
    this.announce();
  }

  leave(member: DoubleRoom<unknown>): void {
    this.members.delete(member);
    this.announce();
  }

  /** The server is killed and loses all state. */
  stop(): void {
    this.isUp = false;
    this.incarnation++;
    this.log = [];
    this.nextId = 1;
    for (const member of this.members) member.setStatus("reconnecting");
  }

  start(): void {
    this.isUp = true;
    for (const member of [...this.members]) this.join(member);
  }

  post(post: Omit<Post, "position">, isTransaction: boolean): void {
    setTimeout(() => {
      if (!this.isUp) return;
      const placed = { ...post, position: isTransaction ? this.log.length + 1 : 0 };
      if (isTransaction) this.log.push(placed);
      for (const member of this.members) if (isTransaction || member.id !== post.sender) member.receive(placed, false);
    }, this.delay);
  }

  announce(): void {
    for (const member of this.members) member.emit("participants", member.participants);
  }
}

export class DoubleRoom<P> implements Room<P> {
  status: Status = "connecting";
  transport: Transport = { name: "webtransport", why: "The double has no network." };
  /** The double does not confirm transactions, and stores nothing. */
  readonly pending = 0;
  readonly durability = "memory";
  /** Its connection never fails. */
  readonly problem = undefined;
  id = 0;
  incarnation = 0;
  private presence: P | undefined;
  private readonly channels = new Map<string, DoubleChannel>();
  private readonly listeners = new Map<string, ((value: never) => void)[]>();
  private sentMessages = 0;
  private sentBytes = 0;
  private receivedMessages = 0;
  private receivedBytes = 0;

  constructor(
    private readonly hub: Hub,
    readonly name: string,
    presence: P | undefined,
  ) {
    this.presence = presence;
    setTimeout(() => hub.join(this as DoubleRoom<unknown>), hub.delay);
  }

  get self(): Participant<P> | undefined {
    return this.id === 0 ? undefined : { id: this.id, presence: this.presence, away: false };
  }

  get participants(): ReadonlyMap<number, Participant<P>> {
    const others = [...this.hub.members].filter((member) => member.id !== this.id);
    return new Map(others.map((member) => [member.id, member.self as Participant<P>]));
  }

  get state(): RoomState<P> {
    const { name, status, problem, self, participants, complete, count, transport, durability } = this;
    return { name, status, problem, self, participants, complete, count, transport, durability, pending: false };
  }

  readonly subscribe = (): never => {
    throw new Error("the double has no subscriptions");
  };

  /** The double's rooms are small. */
  readonly complete = true;

  get count(): number {
    return this.hub.members.size;
  }

  get stats(): Stats {
    const traffic = (messages: number, bytesBefore: number) => ({
      messages,
      packets: messages,
      bytesBefore,
      bytesAfter: Math.round(bytesBefore * 0.19) + 9 * messages,
      bytesPayload: Math.round(bytesBefore * 0.19),
    });
    return {
      transport: "double",
      sent: traffic(this.sentMessages, this.sentBytes),
      received: traffic(this.receivedMessages, this.receivedBytes),
      roundTrip: 2 * this.hub.delay + Math.random() * 6,
      reconnects: 0,
      channels: new Map(),
    };
  }

  channel(name: string, { compress = "template", ...qos }: ChannelOptions): Channel {
    const channel = new DoubleChannel(name, qos, compress, (data, key) => {
      this.sentMessages++;
      this.sentBytes += data.length;
      const post = { channel: name, data, key, sender: this.id, index: this.sentMessages, madeAt: Date.now() };
      this.hub.post(post, qos.kind === "transaction");
    });
    this.channels.set(name, channel);
    return channel;
  }

  setTransports(names: readonly TransportName[] | undefined): void {
    const [name = "webtransport"] = names ?? [];
    this.transport = { name, why: "The double has no network." };
    this.emit("transport", this.transport);
  }

  /** The double lets everybody in. */
  setToken(): void {}

  setPresence(presence: P): void {
    this.presence = presence;
    this.hub.announce();
  }

  /** Everybody is among the participants. */
  askForPage(): void {}

  provideSnapshot(): void {
    // The hub keeps its whole log, so it never asks for a snapshot.
  }

  on<E extends keyof RoomEvents<P>>(event: E, listener: (value: RoomEvents<P>[E]) => void): () => void {
    const list = this.listeners.get(event) ?? [];
    this.listeners.set(event, list);
    list.push(listener as (value: never) => void);
    return () => list.splice(list.indexOf(listener as (value: never) => void), 1);
  }

  once(): () => void {
    throw new Error("no application here listens once");
  }

  off(): void {
    throw new Error("applications here call what `on` has returned");
  }

  close(): void {
    this.leave();
  }

  disconnect(): void {
    this.leave();
  }

  destroy(): void {
    this.leave();
  }

  leave(): void {
    this.hub.leave(this as DoubleRoom<unknown>);
    this.setStatus("closed");
  }

  become(id: number): void {
    this.id = id;
  }

  setStatus(status: Status): void {
    this.status = status;
    this.emit("status", status);
  }

  emit<E extends keyof RoomEvents<P>>(event: E, value: RoomEvents<P>[E]): void {
    for (const listener of this.listeners.get(event) ?? []) listener(value as never);
  }

  receive(post: Post, state: boolean): void {
    this.receivedMessages++;
    this.receivedBytes += post.data.length;
    this.channels.get(post.channel)?.deliver({
      data: post.data,
      json: <T>() => JSON.parse(String(post.data)) as T,
      sender: post.sender,
      own: post.sender === this.id,
      key: post.key,
      age: Date.now() - post.madeAt,
      position: post.position,
      index: post.index,
      stale: false,
      state,
      departed: undefined,
    });
  }
}

class DoubleChannel implements Channel {
  private readonly listeners: ((message: Message) => void)[] = [];

  constructor(
    readonly name: string,
    public qos: Qos,
    public compress: Compress,
    private readonly post: (data: string | Uint8Array, key: string | undefined) => void,
  ) {}

  readonly contract = undefined;

  setQos(change: Partial<Qos>): void {
    this.qos = { ...this.qos, ...change };
  }

  limitRate(): void {
    // The hub sends all values.
  }

  close(): Promise<void> {
    this.listeners.length = 0;
    return Promise.resolve();
  }

  send(payload: Payload, options: SendOptions = {}): Sent {
    const isRaw = typeof payload === "string" || payload instanceof Uint8Array;
    this.post(isRaw ? payload : JSON.stringify(payload), options.key);
    return "accepted";
  }

  sendTo(): Promise<Receipt> {
    // The hub has no messages for one participant, and no application here sends any.
    return Promise.resolve("not-open");
  }

  on(event: string, listener: (value: never) => void): () => void {
    if (event === "message") this.listeners.push(listener as (message: Message) => void);
    return () => {};
  }

  once(): () => void {
    throw new Error("no application here listens once");
  }

  off(): void {
    throw new Error("applications here call what `on` has returned");
  }

  deliver(message: Message): void {
    for (const listener of this.listeners) listener(message);
  }
}
