// The page of a participant of a conversation. The address sets server, room, name, options, and
// with `scheme` another way to send the frames (schemes.ts).

import { connect } from "groupwire";
import type { VoiceEvent } from "groupwire-widgets/voice";
import { joinVoice, type Voice, type VoiceOptions } from "groupwire/voice";
import { Recorder } from "./record.js";
import { sentAs } from "./schemes.js";

const query = new URLSearchParams(location.search);

/** Taps what is played, because a page without a loudspeaker hears nothing. */
let tap: AnalyserNode | undefined;
const { connect: connectNodes } = AudioNode.prototype as { connect: (...args: unknown[]) => unknown };
AudioNode.prototype.connect = function (this: AudioNode, ...args: unknown[]) {
  if (args[0] instanceof AudioDestinationNode) {
    tap = new AnalyserNode(this.context, { fftSize: 2048 });
    connectNodes.call(this, tap);
  }
  if (this instanceof MediaStreamAudioSourceNode) note(this, "spoken");
  if (args[0] instanceof AudioDestinationNode) note(this, "played");
  return connectNodes.apply(this, args);
} as typeof AudioNode.prototype.connect;

/** When sounds began after a pause (ms since 1970): of the microphone, and of what is played. */
const onsets = { spoken: [] as number[], played: [] as number[] };

/** With `record` in the address: the microphone, and what is played. */
const records: { spoken?: Recorder; played?: Recorder } = {};

function note(node: AudioNode, side: "spoken" | "played"): void {
  if (query.has("onsets")) noteOnsets(node, onsets[side]);
  if (query.has("record")) records[side] ??= new Recorder(node, (one, other) => connectNodes.call(one, other));
}

function noteOnsets(node: AudioNode, times: number[]): void {
  const samples = new Float32Array(256);
  const analyser = new AnalyserNode(node.context, { fftSize: samples.length });
  connectNodes.call(node, analyser);
  let quietSince = Infinity;
  setInterval(() => {
    analyser.getFloatTimeDomainData(samples);
    const now = performance.timeOrigin + performance.now();
    const isLoud = samples.some((sample) => Math.abs(sample) > 0.03);
    if (isLoud && now - quietSince > 500) times.push(now);
    quietSince = isLoud ? Infinity : Math.min(quietSince, now);
  }, 4);
}

const options = JSON.parse(query.get("options") ?? "{}") as VoiceOptions;
const transports = query.get("transports")?.split(",") as never;
const key = query.get("key");
const room = connect(query.get("server") ?? "", query.get("room") ?? "", {
  presence: { name: query.get("name") },
  ...(transports ? { transports } : {}),
});
const all = {
  ...options,
  ...(key === null ? {} : { key: Uint8Array.from({ length: 32 }, (_, at) => at + Number(key)) }),
};
/** With `widget` in the address the user joins by `<gw-voice>`, otherwise the page does. */
let voice: Voice | undefined;
if (query.has("widget")) {
  await import("groupwire-widgets/voice");
  const panel = document.createElement("gw-voice");
  panel.room = room;
  panel.options = all;
  panel.addEventListener("gw-voice", (event) => {
    voice = (event as CustomEvent<VoiceEvent>).detail.voice;
    watch();
  });
  const heading = Object.assign(document.createElement("h1"), { textContent: "A conversation" });
  const main = document.createElement("main");
  main.append(heading, panel);
  document.body.append(main);
} else {
  voice = joinVoice(sentAs(room, query.get("scheme")), all);
}

const seen = {
  room,
  get voice() {
    return voice;
  },
  status: () => room.status,
  onsets,
  records,
  errors: [] as string[],
  /** The loudest of what is played in the next 150 ms, as a root mean square of 43 ms. */
  heard: async () => {
    loudest = 0;
    await new Promise((resolve) => setTimeout(resolve, 150));
    return loudest;
  },
};
const watch = (): void => {
  voice?.on("error", ({ code }) => seen.errors.push(code));
  voice?.on("blocked", ({ code }) => seen.errors.push(code));
};
watch();

let loudest = 0;
const samples = new Float32Array(2048);
setInterval(() => {
  tap?.getFloatTimeDomainData(samples);
  loudest = Math.max(loudest, Math.sqrt(samples.reduce((sum, one) => sum + one * one, 0) / samples.length));
}, 40);

declare global {
  interface Window {
    seen: typeof seen;
  }
}
window.seen = seen;
