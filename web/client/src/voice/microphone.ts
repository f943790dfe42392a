/** The microphone as frames of 20 ms. */

import { microphoneError, voiceError } from "./errors.js";
import type { Sound } from "./sound.js";
import { CAPTURE, type Captured } from "./processors.js";

/**
 * Seconds. A frame that waited longer in the page has used up most of the channel's deadline of
 * 180 ms, and is not sent.
 */
const OLD_S = 0.15;

export interface MicrophoneOptions {
  readonly device: string | undefined;
  readonly echoCancellation: boolean;
  readonly noiseSuppression: boolean;
}

export interface MicrophoneEvents {
  /** A frame of 960 samples. `isOld`: it waited too long, because the page was suspended. */
  frame(samples: Float32Array<ArrayBuffer>, isOld: boolean): void;
  /** The device was unplugged, or its permission was taken back. */
  lost(): void;
}

export class Microphone {
  readonly #close: () => void;

  private constructor(close: () => void) {
    this.#close = close;
  }

  /** Asks the user, and begins. Rejects with an error of voice. */
  static async open(sound: Sound, options: MicrophoneOptions, events: MicrophoneEvents): Promise<Microphone> {
    const stream = await ask(options);
    const [track] = stream.getAudioTracks();
    const end = (): void => stream.getTracks().forEach((one) => one.stop());
    try {
      const [context, source] = await sound.takes(stream);
      const node = new AudioWorkletNode(context, CAPTURE, {
        ...{ numberOfInputs: 1, numberOfOutputs: 0, channelCount: 1 },
        ...{ channelCountMode: "explicit", channelInterpretation: "speakers" },
      });
      node.port.onmessage = ({ data: [samples, at] }: MessageEvent<Captured>) =>
        events.frame(samples, context.currentTime - at > OLD_S);
      source.connect(node);
      if (track) track.onended = () => events.lost();
      return new Microphone(() => {
        node.port.onmessage = null;
        source.disconnect();
        end();
        if (context !== sound.context) void context.close();
      });
    } catch (error) {
      end();
      throw error;
    }
  }

  close(): void {
    this.#close();
  }
}

async function ask({ device, echoCancellation, noiseSuppression }: MicrophoneOptions): Promise<MediaStream> {
  const devices = mediaDevices();
  if (!devices) throw voiceError("insecure");
  const audio = { echoCancellation, noiseSuppression, autoGainControl: true, channelCount: 1 };
  const chosen = device === undefined ? {} : { deviceId: { exact: device } };
  try {
    return await devices.getUserMedia({ audio: { ...audio, ...chosen } });
  } catch (error) {
    throw microphoneError(error);
  }
}

/** The devices for media; undefined in Node, and for a page that is not from a secure address. */
export function mediaDevices(): MediaDevices | undefined {
  return (globalThis.navigator as { readonly mediaDevices?: MediaDevices } | undefined)?.mediaDevices;
}
