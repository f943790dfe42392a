/** The names of the processors in the audio thread, and the types of their messages. */

export const CAPTURE = "groupwire-capture";
export const PLAYOUT = "groupwire-playout";

/** A frame of the microphone, and when it was complete on the context's clock (seconds). */
export type Captured = readonly [samples: Float32Array<ArrayBuffer>, at: number];

/** A message to a playout: a frame, one too late, one made up, noise, the largest delay. */
export type ToPlayout =
  | readonly ["frame", sequence: number, samples: Float32Array, isLast: boolean]
  | readonly ["missed", sequence: number]
  | readonly ["made", sequence: number, samples: Float32Array]
  | readonly ["pause", sequence: number, level: number]
  | readonly ["maxDelay", ms: number]
  | readonly ["end"];
