import type {
  Channel,
  ChannelEvents,
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
import { check, checkOptions } from "./arguments.js";
import { decodeText, encode } from "./codec.js";
import { OFF, builtIn, moduleFor, type Compression, type CodecModule } from "./compress.js";
import type { CoreMessage } from "./core.js";
import type { Driver, DriverChannel } from "./driver.js";
import { failure } from "./errors.js";
import { Emitter } from "./events.js";
import { CHANGE, checkQos, CODEC, differences, PARTICIPANT, RATE, SEND } from "./options.js";

const EVENTS: Readonly<Record<keyof ChannelEvents, true>> = {
  message: true,
  direct: true,
  synced: true,
  qos: true,
  contract: true,
};

export class RoomChannel implements Channel, DriverChannel {
  readonly #driver: Driver;
  readonly #events = new Emitter<ChannelEvents>(EVENTS);
  /**
   * What this program has asked for when it opened the channel, and with its last change of the
   * QoS.
   */
  readonly #asked: ChannelOptions;
  #askedLast: ChannelOptions;
  qos: Qos;
  compression: Compression;
  id: number | undefined;
  #compress: Compress;
  #closing: Promise<void> | undefined;
  #resolveClosing = (): void => {};
  readonly #listened: () => void;
  /**
   * True if the room keeps transactions for a first listener: there was none yet, and not too many
   * have come.
   */
  keeps = true;
  /** The same for direct messages, which are sent to this participant alone. */
  keepsDirect = true;

  /** `listened` is called when a listener for messages was added. */
  constructor(
    driver: Driver,
    readonly name: string,
    options: ChannelOptions,
    listened: () => void,
  ) {
    const { compress = "template", ...qos } = options;
    this.#driver = driver;
    this.#asked = this.#askedLast = { ...options };
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
    check(name, CODEC, "`compress`");
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

  setQos(change: Partial<Omit<Qos, "kind" | "overflow" | "private" | "departures" | "speakers">>): void {
    checkOptions(change, CHANGE, "`setQos`");
    const qos = { ...this.qos, ...change };
    checkQos(qos, `the channel "${this.name}"`);
    this.#mustBeOpen();
    this.#driver.setQos(this, qos);
    this.#askedLast = { ...this.#askedLast, ...change };
  }

  limitRate(perSecond: number | undefined): void {
    if (perSecond !== undefined) check(perSecond, RATE, "the rate of `limitRate`");
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

  /**
   * Called when the program opens the channel again. Cancels the closing, if the subscription has
   * not ended.
   */
  reopen(options: ChannelOptions | undefined): void {
    // What the server has made of the QoS does not matter: a part of a page that is shown again
    // asks for the same as before.
    const how = options && differences(options, this.#asked);
    if (how && differences(options, this.#askedLast))
      throw failure(
        "qos-differs",
        "own",
        `the channel "${this.name}" is open with other options: ${how}; use these, none, or \`setQos\``,
      );
    if (!this.isClosing) return;
    this.#closing = undefined;
    this.#resolveClosing();
    this.#driver.reopen(this);
  }

  send(payload: Payload, options?: SendOptions): Sent {
    if (options !== undefined) checkOptions(options, SEND, "`send`");
    this.#mustBeOpen();
    return this.#driver.send(this, encode(payload), options);
  }

  sendTo(participant: number, payload: Payload): Promise<Receipt> {
    check(participant, PARTICIPANT, "`participant` of `sendTo`");
    this.#mustBeOpen();
    return this.#driver.sendTo(this, participant, encode(payload));
  }

  on<E extends keyof ChannelEvents>(event: E, listener: (value: ChannelEvents[E]) => void): () => void {
    return this.#added(event, this.#events.on(event, listener));
  }

  once<E extends keyof ChannelEvents>(event: E, listener: (value: ChannelEvents[E]) => void): () => void {
    return this.#added(event, this.#events.once(event, listener));
  }

  off<E extends keyof ChannelEvents>(event: E, listener: (value: ChannelEvents[E]) => void): void {
    this.#events.off(event, listener);
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

  /**
   * Called by the room for each message of this channel. Returns false if the room should keep it
   * for the first listener.
   */
  deliver(message: CoreMessage): boolean {
    const keeps = message.type === "direct" ? this.keepsDirect : this.keeps;
    return this.#events.emit(message.type, new IncomingMessage(message)) || !keeps || message.position === 0;
  }

  /** Called by the room when the late-joiner state of this channel is complete. */
  synced(): void {
    this.#events.emit("synced", undefined);
  }

  #added(event: keyof ChannelEvents, stop: () => void): () => void {
    if (event !== "message" && event !== "direct") return stop;
    if (event === "message") this.keeps = false;
    else this.keepsDirect = false;
    this.#listened();
    return stop;
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
