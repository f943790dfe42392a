/** The public types of voice. This file holds types only. */

import type { GroupwireError } from "../errors.js";

/** Options of `joinVoice`. */
export interface VoiceOptions {
  /** The name of the channel for voice. Default: "voice". */
  readonly channel?: string;
  /**
   * When the microphone is sent. `voice`: while somebody speaks. `push`: while `talk(true)` is in
   * force. `open`: all the time. Default: `voice`.
   */
  readonly mode?: VoiceMode;
  /**
   * False: this participant only listens, and the browser asks for no microphone. Default: true.
   */
  readonly microphone?: boolean;
  /** True begins without sending. Default: false. */
  readonly muted?: boolean;
  /** The `deviceId` of a microphone. Default: the one that the browser chooses. */
  readonly device?: string;
  /** Removes what the loudspeaker plays from the sound of the microphone. Default: true. */
  readonly echoCancellation?: boolean;
  /** Default: true. */
  readonly noiseSuppression?: boolean;
  /**
   * Bits per second of the encoder, 6,000 to 64,000: the least and the most. Default: [8000,
   * 32000].
   */
  readonly bitrate?: readonly [least: number, most: number];
  /** The loudness of all others, 0 to 4; 1 leaves it as it is. Default: 1. */
  readonly volume?: number;
  /**
   * A key of AES-GCM that all participants have, and the server does not: 16 or 32 bytes, or a
   * `CryptoKey`. With a key, frames are sent encrypted, and received frames that are not encrypted
   * are not played.
   */
  readonly key?: Uint8Array | CryptoKey;
  /**
   * False leaves this participant's presence as it is. Otherwise it gets the member `voice`, if it
   * is an object: "muted", "silent" or "speaking". Default: true.
   */
  readonly presence?: boolean;
  /**
   * The address of `groupwire/modules/voice-worklet`, for pages whose content security policy
   * forbids `blob:` in `script-src`.
   */
  readonly worklet?: string | URL;
}

export type VoiceMode = "voice" | "push" | "open";

/** What a participant does in the conversation, as it stands in its presence. */
export type VoicePresence = "muted" | "silent" | "speaking";

/** A participant who has joined the conversation, or is heard in it. */
export interface VoicePerson {
  readonly id: number;
  readonly speaking: boolean;
  readonly muted: boolean;
  /** The loudness for this participant, 0 to 4. */
  readonly volume: number;
}

/** How frames travel. `stream`: without datagrams, so a lost packet holds up those after it. */
export type VoicePath = "datagrams" | "stream";

/** The state of the conversation for display: immutable, and a new object after each change. */
export interface VoiceState {
  /** `off`: as a listener. `asking`: the browser asks the user. `failed`: see the event `error`. */
  readonly microphone: "off" | "asking" | "on" | "failed";
  readonly muted: boolean;
  readonly mode: VoiceMode;
  /** True while this participant's sound is sent. */
  readonly speaking: boolean;
  /** True while the browser plays nothing until the user has clicked: call `resume` in a click. */
  readonly blocked: boolean;
  /** Undefined while there is no connection. */
  readonly path: VoicePath | undefined;
  /** The last error, until the microphone or the sound works again. */
  readonly error: VoiceError | undefined;
  /** The other participants of the conversation, by their ids. */
  readonly people: readonly VoicePerson[];
}

/**
 * Why voice does not work, or not wholly. `no-codec`: the browser lacks WebCodecs with Opus, and
 * the Opus in WebAssembly cannot be loaded. `no-worklet`: it lacks AudioWorklet, or may not load
 * it. `insecure`: the page does not come from https or localhost. `microphone-refused`: the user
 * or the browser does not permit it. `no-microphone`: there is none, or not the chosen one.
 * `microphone-busy`: another program has it. `microphone-lost`: it was unplugged. `blocked`: the
 * page needs a click before it may play sound. `interrupted`: the system has stopped the sound,
 * for example for a call. `encoder`: the encoder failed. `key`: frames of a participant cannot be
 * decrypted.
 */
export type VoiceCode =
  | "no-codec"
  | "no-worklet"
  | "insecure"
  | "microphone-refused"
  | "no-microphone"
  | "microphone-busy"
  | "microphone-lost"
  | "blocked"
  | "interrupted"
  | "encoder"
  | "key";

/** An error whose `message` says what is wrong and what to do. */
export type VoiceError = GroupwireError & { readonly code: VoiceCode };

export interface VoiceEvents {
  /** A part of {@link Voice.state} has changed. */
  state: VoiceState;
  /** Sound or microphone do not work. What else works goes on. */
  error: VoiceError;
  /** The page needs a click before it may play sound: call {@link Voice.resume} in it. */
  blocked: VoiceError;
  /** The microphones of the device have changed. */
  devices: undefined;
}

/** Counts of the conversation since the beginning. */
export interface VoiceStats {
  readonly sent: VoiceSent;
  /** What was received of each other participant, by ids. */
  readonly received: ReadonlyMap<number, VoiceReceived>;
}

export interface VoiceSent {
  readonly frames: number;
  /** Frames of silence that were not sent. */
  readonly silent: number;
  /** Frames that were left out because the path did not take them, or the page was suspended. */
  readonly dropped: number;
  /** Bytes of the messages. */
  readonly bytes: number;
  /** Bits per second that the encoder may use now. */
  readonly bitrate: number;
}

/** Counts of frames of 20 ms of one participant. */
export interface VoiceReceived {
  readonly played: number;
  /** Missing frames while the participant spoke, which were made up, or repeats that fade. */
  readonly concealed: number;
  readonly late: number;
  /** Frames that were no valid voice, could not be decrypted, or were too many. */
  readonly refused: number;
  /** Milliseconds from the arrival of the fastest frames until they are played. */
  readonly delay: number;
}

/** A conversation in a room. */
export interface Voice {
  readonly state: VoiceState;
  /** Calls `listener` whenever {@link Voice.state} has changed. Returns a function that ends it. */
  readonly subscribe: (listener: (state: VoiceState) => void) => () => void;
  readonly stats: VoiceStats;
  /** Sends nothing until `mute(false)`. The microphone stays open, so that this is immediate. */
  mute(muted: boolean): void;
  /** With the mode `push`: begins or ends to send. */
  talk(talking: boolean): void;
  setMode(mode: VoiceMode): void;
  /** The loudness of all others, 0 to 4. */
  setVolume(volume: number): void;
  /** The loudness of one participant, 0 to 4; it may not have been heard yet. */
  setVolumeOf(id: number, volume: number): void;
  /**
   * How loud a participant is now, 0 to 1; without an id, this participant. Read it in animation
   * frames.
   */
  level(id?: number): number;
  /**
   * The microphones. Their labels are empty until the user has permitted one.
   */
  devices(): Promise<MediaDeviceInfo[]>;
  /** Takes another microphone, or asks again after an error; undefined: the browser chooses. */
  setDevice(device: string | undefined): Promise<void>;
  /** Begins to play after the event `blocked`. Call it in a listener of a click or a key. */
  resume(): Promise<void>;
  on<E extends keyof VoiceEvents>(event: E, listener: (value: VoiceEvents[E]) => void): () => void;
  /** Ends the conversation for this participant, and gives the microphone back. */
  leave(): void;
}
