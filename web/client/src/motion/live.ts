/** Motion on channels. Only this file and `frames.ts` read a clock. */

import type { Channel, Message, Payload, Room } from "../api.js";
import { check, checkOptions } from "../arguments.js";
import { guarded } from "../events.js";
import { Followers, type FollowedView, type FollowersOptions, type TraceView } from "./followers.js";
import { Frames } from "./frames.js";
import { LocalLag, type DueAction, type LocalLagOptions } from "./lag.js";
import type { Place } from "./numbers.js";
import { FOLLOWERS, LAG, place, PREDICTION, RECKONING, withEvents } from "./options.js";
import { Prediction, type PredictionOptions } from "./prediction.js";
import { Reckoning, type Reckoned, type ReckoningOptions } from "./reckon.js";

/**
 * Reads a message that another program wrote. If it returns undefined or throws, the message is
 * ignored.
 */
export type Read<T> = (message: Message) => T | undefined;

/** Options of {@link follow}. */
export interface FollowOptions extends FollowersOptions {
  /**
   * Reads the place (with the mode `reckon`: and velocity) from a message; null if the moving thing
   * is gone. Default: its JSON.
   */
  readonly read?: Read<Place | Reckoned | null>;
  /** Called in each frame in which something moves, and once after it. */
  readonly draw?: (views: readonly FollowedView[], traces: readonly TraceView[]) => void;
}

/** The movements on a channel while they are followed. */
export interface Follow {
  /** The places to show now. */
  views(): FollowedView[];
  traces(): TraceView[];
  /** Removes the traces of a participant whose movement is now shown in another form. */
  clearTraces(sender: number): void;
  /** Stops the updates. */
  stop(): void;
}

/**
 * Shows the movements of participants that are present, on an awareness channel. One that returns
 * is shown where it was before.
 */
export function follow<P>(room: Room<P>, channel: Channel, options: FollowOptions = {}): Follow {
  withEvents(room, "`room` of `follow`");
  withEvents(channel, "`channel` of `follow`");
  checkOptions(options, { ...FOLLOWERS, read: "function", draw: "function" }, "`follow`");
  const { read, draw, ...following } = options;
  const followers = new Followers(following);
  const isHere = (id: number): boolean => room.participants.get(id)?.away === false;
  const here = <View extends { readonly sender: number }>(all: View[]): View[] =>
    all.filter(({ sender }) => isHere(sender));
  const views = (now: number): FollowedView[] => here(followers.views(now));
  const traces = (now: number): TraceView[] => here(followers.traces(now));
  const frames = new Frames((now) => {
    draw?.(views(now), traces(now));
    return !followers.isSettled(now);
  });
  const keep = (isKept: (sender: number) => boolean): void => {
    followers.keep(isKept);
    frames.request();
  };
  const stops = [
    channel.on("message", (message) => {
      // A transaction that ended the movement has overtaken a stale message.
      if (message.own || message.stale) return;
      const value = quietly(message, read);
      if (value !== undefined) followers.receive(message, value, performance.now());
      frames.request();
    }),
    room.on("participants", (all) => keep((id) => all.has(id))),
    // After these gaps the ids may belong to other participants.
    room.on("gap", ({ reason }) => reason !== "history" && reason !== "reset" && keep(() => false)),
    () => frames.stop(),
  ];
  return {
    views: () => views(performance.now()),
    traces: () => traces(performance.now()),
    clearTraces: (sender) => followers.clearTraces(sender),
    stop: () => stops.splice(0).forEach((stop) => stop()),
  };
}

/** Options of {@link sendReckoned}. */
export interface SendReckonedOptions extends ReckoningOptions {
  /** The key of what moves, if the participant moves several things. */
  readonly key?: string;
}

/** Sends places with velocities, only when others would show something else. */
export interface ReckonedSender {
  /** The object is at this place now. */
  move(place: Place): void;
  /** Stops the sender: it sends nothing any more. */
  stop(): void;
}

/**
 * Sends where something moves, only when the others' predictions err by more than `error`. They
 * follow it with the mode `reckon`.
 */
export function sendReckoned(channel: Channel, options: SendReckonedOptions): ReckonedSender {
  withEvents(channel, "`channel` of `sendReckoned`");
  checkOptions(options, { ...RECKONING, key: 256 }, "`sendReckoned`");
  const { key, ...rest } = options;
  const reckoning = new Reckoning(rest);
  const send = (state: Reckoned | undefined): void => {
    if (state) channel.send(state, key === undefined ? {} : { key });
  };
  const frames = new Frames((now) => {
    send(reckoning.rest(now));
    return reckoning.isMoving(now);
  });
  return {
    move: (to) => {
      place(to, "`place` of `move`");
      send(reckoning.update(to, performance.now()));
      frames.request();
    },
    stop: () => frames.stop(),
  };
}

/** Options of {@link localLag}. */
export interface LocalLagChannelOptions<T> extends LocalLagOptions {
  /** Makes an action take effect; `sender` is undefined for an own action. */
  readonly apply: (due: DueAction<{ readonly action: T; readonly sender: number | undefined }>) => void;
  /** Default: the JSON of a message. */
  readonly read?: Read<T>;
}

/** A channel whose actions take effect at the same moment everywhere. */
export interface LocalLagChannel<T> {
  /** Sends an own action, which takes effect after the lag. */
  act(action: T & Payload): void;
  /** The actions that wait, and the lag itself. */
  readonly lag: LocalLag<{ readonly action: T; readonly sender: number | undefined }>;
  stop(): void;
}

/** Makes own and others' actions take effect the same time after they were made. */
export function localLag<T>(channel: Channel, options: LocalLagChannelOptions<T>): LocalLagChannel<T> {
  withEvents(channel, "`channel` of `localLag`");
  checkOptions(options, { ...LAG, apply: "function", read: "function" }, "`localLag`");
  const { apply, read, ...rest } = options;
  check(apply, "function", "`apply` of `localLag`");
  const lag = new LocalLag<{ readonly action: T; readonly sender: number | undefined }>(rest);
  const frames = new Frames((now) => {
    // An action of somebody else that cannot be applied does not take the others with it.
    for (const due of lag.due(now)) guarded(() => apply(due));
    return lag.nextIn(now) < Infinity;
  });
  const added = (): void => {
    // A hidden page has no frames.
    if (lag.isFull) frames.draw(performance.now());
    frames.request();
  };
  const stops = [
    channel.on("message", (message) => {
      const action = message.own ? undefined : quietly(message, read);
      if (action === undefined) return;
      lag.add({ action, sender: message.sender }, performance.now(), message.age);
      added();
    }),
    () => frames.stop(),
  ];
  return {
    lag,
    act: (action) => {
      channel.send(action);
      lag.add({ action, sender: undefined }, performance.now());
      added();
    },
    stop: () => stops.splice(0).forEach((stop) => stop()),
  };
}

/** Options of {@link predict}. */
export interface PredictOptions<State, Action> extends PredictionOptions<State, Action> {
  /** Default: the JSON of a message. */
  readonly read?: Read<Action>;
  /** Is called when the state has changed. */
  readonly changed?: (state: State) => void;
}

/** A state with own actions that are not confirmed yet. */
export interface Predicted<State, Action> {
  /** The state to show. */
  readonly state: State;
  readonly prediction: Prediction<State, Action>;
  /**
   * Applies an own action at once, and sends it. Returns false, and does nothing, if too many
   * actions are waiting.
   */
  act(action: Action & Payload): boolean;
  stop(): void;
}

/**
 * The state after all actions on a channel of transactions, in the room's order, with own actions
 * applied at once.
 */
export function predict<State, Action, P>(
  room: Room<P>,
  channel: Channel,
  options: PredictOptions<State, Action>,
): Predicted<State, Action> {
  withEvents(room, "`room` of `predict`");
  withEvents(channel, "`channel` of `predict`");
  checkOptions(options, { ...PREDICTION, read: "function", changed: "function" }, "`predict`");
  const { read, changed: tell, ...rest } = options;
  const prediction = new Prediction(rest);
  const changed = (): void => tell?.(prediction.state);
  const stops = [
    channel.on("message", (message) => {
      if (message.departed !== undefined) return;
      const action = quietly(message, read);
      // This program did not make an own action that cannot be read.
      if (action === undefined) return;
      prediction.ordered(action, message.own);
      changed();
    }),
    room.on("gap", ({ reason, channel: name }) => {
      if (reason !== "incarnation" && !(reason === "reset" && name === channel.name)) return;
      // Unconfirmed actions are sent again.
      prediction.reset(options.init, { keep: true });
      changed();
    }),
  ];
  return {
    get state() {
      return prediction.state;
    },
    prediction,
    act: (action) => {
      if (prediction.isFull) return false;
      // An action that cannot be applied is not sent.
      options.step(prediction.state, action);
      if (channel.send(action) === "not-now") return false;
      prediction.act(action);
      changed();
      return true;
    },
    stop: () => stops.splice(0).forEach((stop) => stop()),
  };
}

function quietly<T>(message: Message, read: Read<T> = (message) => message.json<T>()): T | undefined {
  try {
    return read(message);
  } catch {
    return undefined;
  }
}
