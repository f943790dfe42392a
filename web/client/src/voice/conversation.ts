/** A conversation: joins microphone, network and loudspeaker. Only this file reads a clock. */

import type { Channel, Room } from "../api.js";
import { check, checkOptions } from "../arguments.js";
import { asGroupwireError } from "../errors.js";
import { Emitter } from "../events.js";
import { PARTICIPANT } from "../options.js";
import type {
  Voice,
  VoiceError,
  VoiceEvents,
  VoiceMode,
  VoiceOptions,
  VoicePath,
  VoiceState,
  VoiceStats,
} from "./api.js";
import { loadCodec, type Codec } from "./codec.js";
import { voiceError } from "./errors.js";
import { mediaDevices, Microphone } from "./microphone.js";
import { DEVICE, MODE, VOICE, VOLUME, voiceChannel } from "./options.js";
import { People } from "./people.js";
import { Announcer } from "./presence.js";
import { Secret } from "./secret.js";
import { Sender } from "./sender.js";
import { setVolume, Sound } from "./sound.js";

/** Milliseconds between looks at who speaks. A hidden page looks once a second. */
const LOOK_MS = 100;
/** Looks between adaptations of the bitrate: a second. */
const LOOKS = 10;

const EVENTS: Readonly<Record<keyof VoiceEvents, true>> = { state: true, error: true, blocked: true, devices: true };

export class Conversation implements Voice {
  readonly #room: Room<unknown>;
  readonly #options: VoiceOptions;
  readonly #events = new Emitter<VoiceEvents>(EVENTS);
  readonly #channel: Channel;
  readonly #people: People;
  readonly #sender: Sender;
  readonly #announcer: Announcer | undefined;
  readonly #stops: (() => void)[] = [];
  #sound: Sound | undefined;
  #codec: Codec | undefined;
  /** Ready once the code for sound is loaded; rejects with an error of voice. */
  readonly #loaded: Promise<Sound>;
  #microphone: Microphone | undefined;
  /** The `deviceId` of the chosen microphone. */
  #device: string | undefined;
  /** Counts attempts to open a microphone: the result of an older one is not used. */
  #attempt = 0;
  #looks = 0;
  #volume: number;
  #isOver = false;
  #state: VoiceState;

  constructor(room: Room<unknown>, options: VoiceOptions) {
    checkOptions(options, VOICE, "`joinVoice`");
    const { channel = "voice", mode = "voice", muted = false, microphone = true, bitrate = [8000, 32_000] } = options;
    this.#room = room;
    this.#options = options;
    this.#device = options.device;
    this.#volume = options.volume ?? 1;
    this.#channel = channelOf(room, channel);
    const secret = options.key && new Secret(options.key);
    this.#people = new People({ room, secret, wrongKey: () => this.#fail(voiceError("key")) });
    this.#sender = new Sender({
      bitrate,
      secret,
      codec: () => this.#codec as Codec,
      self: () => room.self?.id,
      send: (message) => (room.status === "connected" ? this.#channel.send(message) : "not-now"),
      failed: (error) => this.#failMicrophone(voiceError("encoder", error)),
    });
    this.#sender.mode = mode;
    this.#sender.isMuted = muted;
    this.#announcer = options.presence === false ? undefined : new Announcer(room);
    this.#state = {
      ...{ microphone: microphone ? "asking" : "off", muted, mode, speaking: false },
      ...{ blocked: false, path: undefined, error: undefined, people: [] },
    };
    this.#loaded = this.#load();
    this.#loaded.catch((error) => this.#isOver || this.#failMicrophone(error));
    this.#listen();
    if (microphone) void this.#open();
  }

  get state(): VoiceState {
    return this.#state;
  }

  readonly subscribe = (listener: (state: VoiceState) => void): (() => void) => this.on("state", listener);

  get stats(): VoiceStats {
    return { sent: this.#sender.stats, received: this.#people.stats };
  }

  mute(muted: boolean): void {
    check(muted, "boolean", "`muted` of `mute`");
    this.#sender.isMuted = muted;
    this.#change({ muted });
    this.#look();
  }

  talk(talking: boolean): void {
    check(talking, "boolean", "`talking` of `talk`");
    this.#sender.isTalking = talking;
  }

  setMode(mode: VoiceMode): void {
    check(mode, MODE, "`mode` of `setMode`");
    this.#sender.mode = mode;
    this.#change({ mode });
  }

  setVolume(volume: number): void {
    check(volume, VOLUME, "`volume` of `setVolume`");
    this.#volume = volume;
    if (this.#sound) setVolume(this.#sound.out, volume);
  }

  setVolumeOf(id: number, volume: number): void {
    check(id, PARTICIPANT, "`id` of `setVolumeOf`");
    check(volume, VOLUME, "`volume` of `setVolumeOf`");
    this.#people.setVolume(id, volume);
  }

  level(id?: number): number {
    if (id === undefined) return this.#microphone ? this.#sender.level : 0;
    check(id, PARTICIPANT, "`id` of `level`");
    return this.#people.level(id, performance.now());
  }

  async devices(): Promise<MediaDeviceInfo[]> {
    const all = (await mediaDevices()?.enumerateDevices()) ?? [];
    return all.filter(({ kind }) => kind === "audioinput");
  }

  async setDevice(device: string | undefined): Promise<void> {
    if (device !== undefined) check(device, DEVICE, "`device` of `setDevice`");
    this.#device = device;
    await this.#open();
  }

  async resume(): Promise<void> {
    await this.#sound?.resume();
  }

  on<E extends keyof VoiceEvents>(event: E, listener: (value: VoiceEvents[E]) => void): () => void {
    return this.#events.on(event, listener);
  }

  leave(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#closeMicrophone();
    for (const stop of this.#stops.splice(0)) stop();
    this.#people.close();
    this.#sound?.close();
    this.#announcer?.end();
    if (this.#room.status !== "closed") void this.#channel.close();
    this.#change({ microphone: "off", speaking: false, blocked: false, people: [] });
  }

  async #load(): Promise<Sound> {
    if (typeof AudioWorkletNode !== "function")
      throw voiceError(globalThis.isSecureContext === false ? "insecure" : "no-worklet");
    const codec = (this.#codec = await loadCodec());
    const sound = new Sound(this.#options.worklet, { changed: (problem) => this.#soundChanged(problem) });
    if (this.#isOver) sound.close();
    this.#sound = sound;
    this.setVolume(this.#volume);
    await sound.load();
    this.#people.play(sound, codec);
    return sound;
  }

  #listen(): void {
    const devices = mediaDevices();
    const deviceChange = (): void => {
      this.#events.emit("devices", undefined);
      // A microphone that was unplugged may be back.
      if (this.#state.error?.code === "microphone-lost") void this.#open();
    };
    devices?.addEventListener("devicechange", deviceChange);
    const timer = setInterval(() => this.#look(), LOOK_MS);
    this.#stops.push(
      this.#channel.on("message", ({ own, state, sender, data }) => {
        if (!own && !state) this.#people.receive(sender, data, performance.now());
      }),
      this.#room.on("participants", () => this.#look()),
      this.#room.on("status", (status) => status === "closed" && this.leave()),
      this.#room.on("gap", ({ reason }) => reason !== "history" && reason !== "reset" && this.#people.close()),
      () => clearInterval(timer),
      () => devices?.removeEventListener("devicechange", deviceChange),
    );
  }

  async #open(): Promise<void> {
    const attempt = (this.#attempt += 1);
    this.#closeMicrophone();
    this.#change({ microphone: "asking" });
    const { echoCancellation = true, noiseSuppression = true } = this.#options;
    try {
      const sound = await this.#loaded;
      const opened = await Microphone.open(
        sound,
        { device: this.#device, echoCancellation, noiseSuppression },
        {
          frame: (samples, isOld) => this.#sender.frame(samples, isOld),
          lost: () => this.#failMicrophone(voiceError("microphone-lost")),
        },
      );
      if (attempt !== this.#attempt || this.#isOver) return opened.close();
      this.#microphone = opened;
      // With the permission for the microphone, the page may play sound.
      void sound.resume();
      this.#change({ microphone: "on", error: undefined });
    } catch (error) {
      if (attempt === this.#attempt && !this.#isOver) this.#failMicrophone(asGroupwireError(error) as VoiceError);
    }
  }

  #closeMicrophone(): void {
    this.#sender.stop();
    this.#microphone?.close();
    this.#microphone = undefined;
  }

  #failMicrophone(error: VoiceError): void {
    this.#closeMicrophone();
    const isSame = this.#state.error?.code === error.code && this.#state.microphone === "failed";
    this.#change({ microphone: this.#state.microphone === "off" ? "off" : "failed" });
    if (!isSame) this.#fail(error);
  }

  #fail(error: VoiceError): void {
    this.#change({ error });
    if (!this.#events.emit("error", error)) console.error(`groupwire: voice: ${error.message}`, error);
  }

  #soundChanged(problem: VoiceError | undefined): void {
    const blocked = problem?.code === "blocked";
    this.#change({ blocked });
    if (problem && blocked) this.#events.emit("blocked", problem);
    else if (problem) this.#fail(problem);
    else if (this.#state.error?.code === "interrupted") this.#change({ error: undefined });
  }

  /** Looks who speaks, and once a second at the path. */
  #look(): void {
    if (this.#isOver) return;
    const now = performance.now();
    const { muted, microphone } = this.#state;
    const speaking = microphone === "on" && this.#sender.isSpeaking;
    this.#people.tidy(now);
    this.#change({ speaking, people: this.#people.list(now) });
    this.#announcer?.tell(speaking ? "speaking" : muted || microphone !== "on" ? "muted" : "silent", now);
    if (this.#looks++ % LOOKS === 0) this.#lookAtPath();
  }

  #lookAtPath(): void {
    const { transport, stats, status } = this.#room;
    const hasDatagrams = transport?.name === "webtransport" && stats.plain === undefined;
    const path: VoicePath | undefined = status !== "connected" ? undefined : hasDatagrams ? "datagrams" : "stream";
    if (path && path !== this.#state.path) this.#people.path = path;
    this.#change({ path });
    this.#sender.follow({ lost: this.#channel.contract?.upstream ?? 0, roundTrip: stats.roundTrip });
  }

  /** Replaces the immutable state if something of it is different. */
  #change(change: Partial<VoiceState>): void {
    const names = Object.keys(change) as (keyof VoiceState)[];
    if (names.every((name) => JSON.stringify(change[name]) === JSON.stringify(this.#state[name]))) return;
    this.#state = { ...this.#state, ...change };
    this.#events.emit("state", this.#state);
  }
}

/** The channel. If the application has opened it with other options, these stay. */
function channelOf(room: Room<unknown>, name: string): Channel {
  try {
    return room.channel(name);
  } catch {
    return room.channel(name, voiceChannel());
  }
}
