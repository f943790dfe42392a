import type {
  Channel,
  ChannelOptions,
  Compress,
  Contract,
  ContractEvent,
  Message,
  Payload,
  Qos,
  Receipt,
  SendOptions,
  Sent,
} from "./api.js";
import { decodeText, encode } from "./codec.js";
import { OFF, builtIn, moduleFor, type Compression, type CodecModule } from "./compress.js";
import type { CoreMessage } from "./core.js";
import type { Driver, DriverChannel } from "./driver.js";
import { failure } from "./errors.js";
import { Emitter } from "./events.js";

interface ChannelEvents {
  message: Message;
  direct: Message;
  synced: undefined;
  qos: Qos;
  contract: ContractEvent;
}

export class RoomChannel implements Channel, DriverChannel {
  readonly #driver: Driver;
  readonly #events = new Emitter<ChannelEvents>();
  qos: Qos;
  compression: Compression;
  id: number | undefined;
  #compress: Compress;
  #closing: Promise<void> | undefined;
  #resolveClosing = (): void => {};
  readonly #listened: () => void;
  /** True if the room keeps transactions for a first listener: there was none yet, and not too many have come. */
  keeps = true;
  /** The same for direct messages, which are sent to this participant alone. */
  keepsDirect = true;

  /** `listened` is called when a listener for messages was added. */
  constructor(
    driver: Driver,
    readonly name: string,
    { compress = "template", ...qos }: ChannelOptions,
    listened: () => void,
  ) {
    this.#driver = driver;
    this.#listened = listened;
    this.qos = qos;
    this.#compress = compress;
    this.compression = builtIn(compress) ?? OFF;
    driver.open(this);
    this.#loadFor(compress);
  }

  get compress(): Compress {
    return this.#compress;
  }

  set compress(name: Compress) {
    this.#mustBeOpen();
    this.#compress = name;
    const compression = builtIn(name);
    if (compression) this.#become(compression);
    this.#loadFor(name);
  }

  #loadFor(name: Compress): void {
    const part = moduleFor(name);
    if (part) void this.#load(name, part);
  }

  async #load(name: Compress, part: CodecModule): Promise<void> {
    try {
      const codecs = await this.#driver.loadCodecs(part);
      // The application may have chosen another setting while the module was loading.
      if (this.#compress === name) this.#become(builtIn(name) ?? codecs.read(name));
    } catch (error) {
      if (this.#compress !== name) return;
      // `auto` goes on with the codecs that are loaded.
      if (name !== "auto") {
        this.#compress = "off";
        this.#become(OFF);
      }
      this.#driver.reportError(this, error);
    }
  }

  #become(compression: Compression): void {
    if (this.isClosing) return;
    this.compression = compression;
    this.#driver.compress(this);
  }

  get contract(): Contract | undefined {
    return this.#driver.contract(this);
  }

  setQos(change: Partial<Omit<Qos, "kind" | "overflow" | "private" | "departures">>): void {
    this.#mustBeOpen();
    this.#driver.setQos(this, { ...this.qos, ...change });
  }

  limitRate(perSecond: number | undefined): void {
    this.#mustBeOpen();
    this.#driver.limitRate(this, perSecond);
  }

  /** True once `close` was called. */
  get isClosing(): boolean {
    return this.#closing !== undefined;
  }

  close(): Promise<void> {
    if (!this.#closing) {
      this.#closing = new Promise((resolve) => (this.#resolveClosing = resolve));
      // If the application opens the channel again before it is closed, no transaction is lost.
      this.keeps = true;
      this.keepsDirect = true;
      this.#driver.close(this);
    }
    return this.#closing;
  }

  /** Cancels the closing, if the subscription has not ended. */
  reopen(): void {
    if (!this.isClosing) return;
    this.#closing = undefined;
    this.#resolveClosing();
    this.#driver.reopen(this);
  }

  send(payload: Payload, options: SendOptions = {}): Sent {
    this.#mustBeOpen();
    return this.#driver.send(this, encode(payload), options);
  }

  sendTo(participant: number, payload: Payload): Promise<Receipt> {
    this.#mustBeOpen();
    return this.#driver.sendTo(this, participant, encode(payload));
  }

  on(event: "message", listener: (message: Message) => void): () => void;
  on(event: "direct", listener: (message: Message) => void): () => void;
  on(event: "synced", listener: () => void): () => void;
  on(event: "qos", listener: (qos: Qos) => void): () => void;
  on(event: "contract", listener: (news: ContractEvent) => void): () => void;
  on(event: keyof ChannelEvents, listener: (value: never) => void): () => void {
    if (event === "message" || event === "direct") {
      if (event === "message") this.keeps = false;
      else this.keepsDirect = false;
      this.#listened();
    }
    return this.#events.on(event, listener as (value: unknown) => void);
  }

  /** Called by the room when the server has opened the channel. */
  opened(qos: Qos): void {
    this.qos = qos;
  }

  /** Called when the subscription has ended. */
  closed(): void {
    this.#resolveClosing();
  }

  /** Called by the room when the QoS of the open channel has changed. */
  changed(qos: Qos): void {
    this.qos = qos;
    this.#events.emit("qos", qos);
  }

  /** Called by the room when the state of the contract has changed. */
  contractChanged(news: ContractEvent): void {
    this.#events.emit("contract", news);
  }

  /** Called by the room for each message of this channel. Returns false if the room should keep it for the first listener. */
  deliver(message: CoreMessage): boolean {
    const keeps = message.type === "direct" ? this.keepsDirect : this.keeps;
    return this.#events.emit(message.type, new IncomingMessage(message)) || !keeps || message.position === 0;
  }

  /** Called by the room when the late-joiner state of this channel is complete. */
  synced(): void {
    this.#events.emit("synced", undefined);
  }

  #mustBeOpen(): void {
    if (this.isClosing) throw failure("closed", "own", `the channel "${this.name}" is closed: open it again`);
  }
}

class IncomingMessage implements Message {
  readonly data: string | Uint8Array;
  readonly sender: number;
  readonly own: boolean;
  readonly key: string | undefined;
  readonly age: number;
  readonly position: number;
  readonly index: number;
  readonly stale: boolean;
  readonly state: boolean;
  readonly departed: number | undefined;

  constructor({ data, sender, own, key, age, position, index, stale, state, departed }: CoreMessage) {
    this.data = data;
    this.sender = sender;
    this.own = own;
    this.key = key;
    this.age = age;
    this.position = position;
    this.index = index;
    this.stale = stale;
    this.state = state;
    this.departed = departed;
  }

  json<T = unknown>(): T {
    return JSON.parse(decodeText(this.data)) as T;
  }
}
