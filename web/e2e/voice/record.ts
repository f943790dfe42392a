// Records what passes a node of the page's sound, and how its clock runs beside the page's.

/** The samples that passed a node, and when. */
export interface Recording {
  /** Samples per second. */
  readonly rate: number;
  /** The time of the first sample, in ms of the clock of sound. */
  readonly start: number;
  /** Looks at both clocks: ms of sound, and ms since 1970. */
  readonly clocks: readonly (readonly [sound: number, time: number])[];
  /** The samples as numbers of 16 bits, in base64. */
  readonly samples: string;
}

/** Samples that the thread of sound collects before it tells them. */
const BATCH = 32 * 128;

const CODE = `registerProcessor("record", class extends AudioWorkletProcessor {
  #batch = new Float32Array(${BATCH});
  #filled = 0;
  process([[samples]]) {
    if (this.#filled === 0) this.start = currentTime;
    if (samples) this.#batch.set(samples, this.#filled);
    this.#filled += 128;
    if (this.#filled < ${BATCH}) return true;
    this.port.postMessage([this.start, this.#batch], [this.#batch.buffer]);
    this.#batch = new Float32Array(${BATCH});
    this.#filled = 0;
    return true;
  }
})`;

export class Recorder {
  readonly #context: BaseAudioContext;
  #batches: (readonly [start: number, samples: Float32Array])[] = [];
  #clocks: [number, number][] = [];

  /** Records what `node` gives, from soon on. `connect` joins two nodes. */
  constructor(node: AudioNode, connect: (one: AudioNode, other: AudioNode) => void) {
    this.#context = node.context;
    setInterval(
      () => this.#clocks.push([this.#context.currentTime * 1000, performance.timeOrigin + performance.now()]),
      50,
    );
    void this.#listen(node, connect);
  }

  /** Forgets what was recorded so far. */
  clear(): void {
    this.#batches = [];
    this.#clocks = [];
  }

  get recording(): Recording {
    const samples = new Int16Array(this.#batches.reduce((sum, [, { length }]) => sum + length, 0));
    let at = 0;
    for (const [, batch] of this.#batches) {
      for (const sample of batch) samples[at++] = Math.round(Math.max(-1, Math.min(1, sample)) * 32_767);
    }
    const bytes = new Uint8Array(samples.buffer);
    let text = "";
    for (let from = 0; from < bytes.length; from += 8192)
      text += String.fromCharCode(...bytes.subarray(from, from + 8192));
    const [first] = this.#batches;
    const start = first ? first[0] * 1000 : NaN;
    return { rate: this.#context.sampleRate, start, clocks: this.#clocks, samples: btoa(text) };
  }

  async #listen(node: AudioNode, connect: (one: AudioNode, other: AudioNode) => void): Promise<void> {
    const address = URL.createObjectURL(new Blob([CODE], { type: "text/javascript" }));
    await this.#context.audioWorklet.addModule(address);
    const recorder = new AudioWorkletNode(this.#context, "record", { numberOfOutputs: 0, channelCount: 1 });
    recorder.port.onmessage = ({ data }: MessageEvent<readonly [number, Float32Array]>) => this.#batches.push(data);
    connect(node, recorder);
  }
}
