// The ways to send and show a pointer. Bytes are those of the payload as the library encodes it,
// otherwise as JSON, without headers and without the compression of a network layer.

import { Decoder, Encoder, schema, t as type } from "@colyseus/schema";
import { Predict } from "@colyseus/sdk/predict";
import { createRequire } from "node:module";
import { Damped, Playout, ReckonedPlace, Reckoning } from "../../web/client/dist/motion.js";
import { DELAY, JITTER } from "./network.mjs";

// The ES module of this package lacks file names in its imports, so `require` loads it.
const { PerfectCursor } = createRequire(import.meta.url)("perfect-cursors");

/** The largest error (px) of the receivers' predictions. */
const ERROR = 4;

/**
 * The interval (ms) of the sender's animation frames, in which dead reckoning checks its
 * prediction.
 */
const FRAME = 16;

const Pointer = schema({ x: type.number(), y: type.number() }, "Pointer");

export const METHODS = [
  { name: "groupwire-curve", messages: places, receiver: curve },
  // With the delay of Colyseus' interpolation. The adaptive delay is lower, and errs a little more.
  { name: "groupwire-curve-140", messages: places, receiver: () => curve({ minDelay: 140 }) },
  { name: "groupwire-reckon", messages: reckonings, receiver: reckon },
  { name: "colyseus-lerp", messages: patches, receiver: () => colyseus("lerp") },
  { name: "colyseus-extrapolate", messages: patches, receiver: () => colyseus("extrapolate") },
  { name: "colyseus-damped", messages: patches, receiver: () => colyseus("damped") },
  { name: "perfect-cursors", messages: places, receiver: perfectCursors },
  // Its description expects a message in 50 to 80 ms.
  { name: "perfect-cursors-80", messages: places, receiver: perfectCursors, interval: 80 },
  { name: "easing", messages: places, receiver: easing },
  { name: "raw", messages: places, receiver: raw },
];

/** A message for each event of the mouse. */
function places({ events }) {
  return events.map(({ time, x, y }) => ({ made: time, place: [x, y], bytes: JSON.stringify([x, y]).length }));
}

function reckonings({ events, end }) {
  const sender = new Reckoning({ error: ERROR });
  const messages = [];
  const send = (made, state) => {
    if (state) messages.push({ made, state, bytes: JSON.stringify(state).length });
  };
  events.forEach(({ time, x, y }, at) => {
    send(time, sender.update([x, y], time));
    const next = events[at + 1]?.time ?? end;
    for (let now = time + FRAME; now < next && sender.isMoving(now); now += FRAME) send(now, sender.rest(now));
  });
  return messages;
}

/** Patches of Colyseus. Each contains both coordinates, because lost patches are not repeated. */
function patches({ events }) {
  const state = new Pointer();
  const encoder = new Encoder(state);
  return events.map(({ time, x, y }) => {
    [state.x, state.y] = [x, y];
    state.setDirty("x");
    state.setDirty("y");
    const patch = Buffer.from(encoder.encode());
    encoder.discardChanges();
    return { made: time, place: [x, y], patch, bytes: patch.length };
  });
}

function curve(options) {
  const playout = new Playout(options);
  return {
    receive: ({ place, at, made, index }) => playout.push(place, at, at - made, index),
    at: (now) => playout.at(now),
  };
}

function reckon() {
  const place = new ReckonedPlace();
  return {
    receive: ({ state, at, made, index }) => place.push(state, at, at - made, index),
    at: (now) => place.at(now),
  };
}

/** The clock of Colyseus is exact here, as after a perfect synchronisation. */
function colyseus(mode) {
  const state = new Pointer();
  const decoder = new Decoder(state);
  let [newest, predict] = [0, undefined];
  const roundTrip = 2 * DELAY + JITTER;
  const clock = {
    now: () => performance.now(),
    serverNow: () => performance.now(),
    renderNow: () => performance.now(),
    rtt: () => roundTrip,
    smoothedRtt: () => roundTrip,
    jitter: () => JITTER / 2,
    lastServerTime: () => newest,
    patchInterval: () => 40,
    sample: () => {},
  };
  return {
    receive: ({ patch, made, index }) => {
      // A patch that a newer one has overtaken is left out.
      if (made < newest) return;
      newest = made;
      decoder.decode(patch);
      if (predict) return;
      predict = Predict.get(decoder, { mode, clock });
      predict.attach(state, { x: mode, y: mode });
    },
    at: (now) => {
      predict?.tick(now);
      return predict && [predict.value(state, "x"), predict.value(state, "y")];
    },
  };
}

function perfectCursors() {
  let [shown, newest] = [undefined, -1];
  const cursor = new PerfectCursor((point) => (shown = [...point]));
  return {
    receive: ({ place, index }) => {
      if (index < newest) return;
      newest = index;
      cursor.addPoint(place);
    },
    at: () => shown,
    end: () => cursor.dispose(),
  };
}

function easing() {
  return newestBy(new Damped());
}

function raw() {
  return newestBy(new Damped(0));
}

function newestBy(shown) {
  let newest = -1;
  return {
    receive: ({ place, at, index }) => {
      if (index < newest) return;
      newest = index;
      shown.push(place, at);
    },
    at: (now) => shown.at(now),
  };
}
