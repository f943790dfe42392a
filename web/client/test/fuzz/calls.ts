/** The public functions, each with values that are nearly right for its arguments. */

import fc from "fast-check";
import * as groupwire from "../../src/index.js";
import * as motion from "../../src/motion.js";
import * as schema from "../../src/schema.js";
import * as shared from "../../src/shared.js";
import * as store from "../../src/store.js";
import type { Channel, Room } from "../../src/index.js";
import * as v from "./values.js";

/** A public function. */
export interface Call {
  readonly name: string;
  /** Values that are nearly right, for each argument. */
  readonly of: readonly fc.Arbitrary<unknown>[];
  readonly run: (world: World, args: readonly unknown[]) => unknown;
}

/**
 * The objects on which functions are called. Calls put what they return here, so that later calls
 * go on with it.
 */
export interface World {
  /** Joins another room, or the same one. */
  readonly connect: (...args: readonly unknown[]) => Room;
  readonly rooms: Room[];
  /** All other objects that calls have returned, by their kind. */
  readonly made: Map<string, Any[]>;
  /** Chooses among the objects of a kind, and among their properties. */
  readonly pick: (from: readonly unknown[]) => unknown;
}

// The calls have arguments of wrong types on purpose.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Any = any;

/** The most objects of a kind: a room has 64 channels, and each `follow` costs time. */
const MOST = 12;

function call(name: string, of: readonly fc.Arbitrary<unknown>[], run: Call["run"]): Call {
  return { name, of, run };
}

/** The result of a call that was not made, because there is no object to call it on. */
export const NOTHING = Symbol("nothing");

/** A call of a method of an object of this kind. */
function method(kind: string, name: string, ...of: readonly fc.Arbitrary<unknown>[]): Call {
  return call(`${kind}.${name}`, of, (world, args) => {
    const on = object(world, kind);
    return on === undefined ? NOTHING : on[name](...args);
  });
}

function getter(kind: string, ...names: readonly string[]): Call {
  return call(`${kind}: ${names.join(", ")}`, [], (world) => {
    const of = object(world, kind);
    return of === undefined ? NOTHING : names.map((name) => of[name]);
  });
}

function object(world: World, kind: string): Any {
  if (kind === "room") return world.pick(world.rooms);
  return world.pick(world.made.get(kind) ?? []);
}

/** A call that makes an object of a kind. */
function making(kind: string, of: readonly fc.Arbitrary<unknown>[], run: (world: World, args: Any) => unknown): Call {
  return call(`make ${kind}`, of, (world, args) => keep(world, kind, run(world, args)));
}

function keep(world: World, kind: string, made: unknown): unknown {
  const all = world.made.get(kind) ?? [];
  if (!all.includes(made)) world.made.set(kind, [made, ...all].slice(0, MOST));
  return made;
}

const roomEvents = fc.constantFrom("status", "participants", "page", "synced", "snapshot", "gap", "drain", "error");
const channelEvents = fc.constantFrom("message", "direct", "synced", "qos", "contract");
const url = fc.constantFrom<unknown>("ws://host", "https://host/a", new URL("http://host"), "host:8080", "/rooms");

/** A room or channel of the world: arguments cannot be generated, because they belong to it. */
const member = (kind: "room" | "channel") => fc.constant({ member: kind });

/** Replaces placeholders of {@link member} by objects of the world. */
export function resolved(world: World, args: readonly unknown[]): unknown[] {
  return args.map((arg) => {
    const kind = (arg as { readonly member?: unknown } | null | undefined)?.member;
    return kind === "room" || kind === "channel" ? object(world, kind) : arg;
  });
}

const ROOM: readonly Call[] = [
  call("awareness", [v.channelOptions], (_, [options]) => groupwire.awareness(options as Any)),
  call("transaction", [v.channelOptions], (_, [options]) => groupwire.transaction(options as Any)),
  making("channel", [v.name, v.channelOptions], (world, args) => object(world, "room").channel(...args)),
  making("channel", [v.name], (world, args) => object(world, "room").channel(...args)),
  method("room", "setToken", fc.string()),
  method("room", "setPresence", v.presence),
  method("room", "askForPage", v.whole),
  method(
    "room",
    "provideSnapshot",
    v.callback,
    v.options({ part: v.name, channels: fc.constant([]) as fc.Arbitrary<unknown> }),
  ),
  method("room", "setTransports", v.transports),
  ...["on", "once", "off"].map((name) => method("room", name, roomEvents, v.callback)),
  method("room", "subscribe", v.callback),
  getter("room", "name", "state", "self", "participants", "count", "complete", "stats", "pending", "durability"),
  method("channel", "send", v.payload, v.options({ key: v.key, priority: v.whole })),
  method("channel", "send", v.payload),
  method("channel", "sendTo", v.whole, v.payload),
  method("channel", "setQos", v.change),
  method("channel", "limitRate", v.number),
  ...["on", "once", "off"].map((name) => method("channel", name, channelEvents, v.callback)),
  call("channel.compress", [v.compress], (world, [name]) => {
    (object(world, "channel") as Channel).compress = name as Any;
  }),
  method("channel", "close"),
  getter("channel", "name", "qos", "compress", "contract"),
];

const anySchema = (validate: (value: unknown) => unknown) => ({ "~standard": { version: 1, vendor: "x", validate } });
const schemas = fc.constantFrom<unknown>(
  anySchema((value) => ({ value })),
  anySchema(() => ({ issues: [{ message: "no" }] })),
  anySchema(() => Promise.resolve({ value: 1 })),
);
const definition = v.options({
  presence: schemas,
  channels: fc.dictionary(v.name, v.mostly(v.channelOptions), { maxKeys: 2 }),
  shared: fc.constant(shared.shared({ score: shared.counter() })) as fc.Arbitrary<unknown>,
});

const SCHEMA: readonly Call[] = [
  making("definition", [definition], (_, [given]) => schema.defineRoom(given)),
  making("typed", [url, v.name, v.options({ presence: v.presence, token: v.token })], (world, args) => {
    const typed = object(world, "definition").join(world.connect, ...args);
    for (const channel of Object.values(typed.channels)) keep(world, "typedChannel", channel);
    // No room has places for any number of participants.
    world.made.get("typed")?.at(-1)?.room.leave();
    return typed;
  }),
  call("definition.join", [v.callback, url, v.name], (world, args) => object(world, "definition").join(...args)),
  method("typed", "setPresence", v.presence),
  method("typed", "onInvalid", v.callback),
  getter("typed", "participants", "channels", "shared", "invalid"),
  method("typedChannel", "send", v.payload, v.options({ key: v.key })),
  method("typedChannel", "sendTo", v.whole, v.payload),
  method("typedChannel", "on", channelEvents, v.callback),
];

const KINDS = ["map", "list", "counter", "reducer", "lock", "turns"] as const;
const versions = v.options({ version: v.whole, upgrade: v.callback });

const SHARED: readonly Call[] = [
  call("map, list", [schemas, versions], (_, args: Any) => [shared.map(...(args as [])), shared.list(...(args as []))]),
  call("reducer", [v.payload, v.callback, v.options({ schema: schemas, undo: v.callback })], (_, args: Any) =>
    shared.reducer(...(args as [Any, Any])),
  ),
  call(
    "shared",
    [fc.dictionary(v.name, v.mostly(fc.constant(shared.counter()))), v.options({ name: v.name })],
    (_, args) => shared.shared(...(args as [Any])),
  ),
  making("data", [v.options({ invalid: v.callback, author: fc.string() })], (world, [options]) => {
    const room = object(world, "room") as Room;
    const { map, list, counter, reducer, lock, turns } = shared;
    const add = (sum: number, by: unknown): number => sum + Number(String(by).length);
    const kinds = {
      map: map(),
      list: list(),
      counter: counter(),
      reducer: reducer(0, add),
      lock: lock(),
      turns: turns(),
    };
    const data = shared.shared(kinds, { name: "board" }).open(room, options as Any);
    for (const kind of KINDS) keep(world, kind, data[kind]);
    return data;
  }),
  ...["set", "patch", "preview"].map((name) => method("map", name, v.key, v.payload)),
  ...["get", "delete", "previewed"].map((name) => method("map", name, v.key)),
  method("list", "insert", v.whole, v.payload),
  method("list", "push", v.payload),
  method("list", "set", v.key, v.payload),
  method("list", "move", v.key, v.whole),
  ...["get", "delete"].map((name) => method("list", name, v.key)),
  call("list of known ids", [v.whole, v.payload], (world, [index, value]) => {
    const list = object(world, "list");
    const id: unknown = world.pick(list.ids);
    if (id === undefined) return NOTHING;
    list.set(id, value);
    return list.move(id, index);
  }),
  method("counter", "add", v.number),
  method("reducer", "dispatch", v.payload),
  ...["acquire", "release"].map((name) => method("lock", name)),
  ...["join", "leave", "next"].map((name) => method("turns", name)),
  ...KINDS.flatMap((kind) => [method(kind, "subscribe", v.callback), getter(kind, "value")]),
  ...["undo", "redo"].map((name) => method("data", name)),
  ...["batch", "subscribe", "onOperation", "onLost"].map((name) => method("data", name, v.callback)),
  getter("data", "author", "isComplete", "isRestoring", "pending", "canUndo", "canRedo"),
];

const reckoned = fc.record({ p: v.place, v: v.place });
const arrival = v.options({ sender: v.whole, key: v.key, age: v.number, index: v.whole });
const playout = { minDelay: v.whole, maxDelay: v.whole };
const reckoning = { error: v.number, horizon: v.whole, heartbeat: v.whole, digits: v.whole };
const following = {
  ...playout,
  mode: fc.constantFrom("curve", "reckon", "damped", "raw"),
  trace: v.whole,
  blend: v.whole,
};

const MOTION: readonly Call[] = [
  making(
    "follow",
    [member("room"), member("channel"), v.options({ ...following, read: v.callback, draw: v.callback })],
    (_, a) => motion.follow(...(a as [Any, Any])),
  ),
  ...["views", "traces", "stop"].map((name) => method("follow", name)),
  method("follow", "clearTraces", v.whole),
  making("sender", [member("channel"), v.options({ ...reckoning, key: v.key })], (_, a) =>
    motion.sendReckoned(...(a as [Any, Any])),
  ),
  method("sender", "move", v.place),
  method("sender", "stop"),
  making("lagged", [member("channel"), v.options({ lag: v.whole, apply: v.callback, read: v.callback })], (_, a) =>
    motion.localLag(...(a as [Any, Any])),
  ),
  method("lagged", "act", v.payload),
  method("lagged", "stop"),
  making("predicted", [member("room"), member("channel"), v.options({ init: v.whole, step: v.callback })], (_, a) =>
    motion.predict(...(a as [Any, Any, Any])),
  ),
  method("predicted", "act", v.payload),
  method("predicted", "stop"),
  ...Object.entries<readonly [given: Call["of"], methods: Readonly<Record<string, Call["of"]>>]>({
    Playout: [
      [v.options(playout)],
      { push: [v.place, v.number, v.number, v.whole], at: [v.number], played: [v.number], clock: [v.number] },
    ],
    Followers: [
      [v.options(following)],
      {
        receive: [arrival, fc.oneof(v.place, reckoned), v.number, v.flag],
        keep: [v.callback],
        drop: [v.whole, v.key],
        views: [v.number],
        traces: [v.number],
        clearTraces: [v.whole],
      },
    ],
    Trace: [
      [v.options({ length: v.whole })],
      { add: [v.place, v.number, v.number], at: [v.number, v.place], clear: [] },
    ],
    Line: [
      [v.options({ dimensions: v.whole, reveal: v.whole, limit: v.whole })],
      { push: [fc.array(v.number), v.whole], at: [v.number], end: [v.number], advance: [v.number] },
    ],
    LocalLag: [
      [v.options({ lag: v.whole, limit: v.whole })],
      { add: [v.payload, v.number, v.number], due: [v.number], nextIn: [v.number], needed: [v.number] },
    ],
    Prediction: [
      [v.options({ init: v.whole, step: v.callback, limit: v.whole })],
      {
        act: [v.payload],
        ordered: [v.payload, v.flag],
        confirm: [v.whole, v.whole],
        reset: [v.whole, v.options({ keep: v.flag })],
      },
    ],
    Reckoning: [
      [v.options(reckoning)],
      { update: [v.place, v.number], rest: [v.number], isMoving: [v.number], errorAt: [v.place, v.number] },
    ],
    ReckonedPlace: [
      [v.options({ horizon: v.whole, blend: v.whole })],
      { push: [reckoned, v.number, v.number], at: [v.number], isSettled: [v.number] },
    ],
    Damped: [[v.number], { push: [v.place, v.number], at: [v.number], isSettled: [v.number] }],
  }).flatMap(([kind, [given, methods]]) => [
    making(kind, given, (_, args) => new (motion as Any)[kind](...args)),
    ...Object.entries(methods).map(([name, of]) => method(kind, name, ...of)),
  ]),
  call("reckoned", [reckoned, v.number, v.whole], (_, args) => motion.reckoned(...(args as [Any, Any]))),
];

const STORE: readonly Call[] = [
  making("handle", [url, v.name, v.options({ presence: v.presence, identity: v.key })], (world, [to, name, more]) => {
    const room = object(world, "definition");
    return new store.RoomHandle({ ...more, room, url: to, name, connect: world.connect });
  }),
  call(
    "new RoomHandle",
    [v.options({ url, name: v.name, connect: v.callback })],
    (_, [given]) => new store.RoomHandle(given as Any),
  ),
  ...["status", "self", "others", "shared"].map((name) =>
    making("selection", [v.callback, v.callback], (world, args) => object(world, "handle")[name](...args)),
  ),
  method("handle", "otherIds", v.options({ by: fc.oneof(fc.constant("user"), v.callback) })),
  ...["undoing", "retain", "open", "undo", "redo"].map((name) => method("handle", name)),
  method("handle", "setPresence", v.presence),
  ...["each", "mutate", "onError"].map((name) => method("handle", name, v.callback)),
  method("handle", "send", v.name, v.payload, v.options({ key: v.key })),
  ...["on", "positions"].map((name) => method("handle", name, v.name, v.callback)),
  ...["get", "first"].map((name) => method("selection", name)),
  method("selection", "subscribe", v.callback),
  call("peopleOf", [fc.array(fc.record({ id: v.whole, away: v.flag })), v.presence, v.callback], (_, args) =>
    store.peopleOf(...(args as [Any, Any, Any])),
  ),
  call("shallow", [v.payload, v.payload], (_, [a, b]) => store.shallow(a, b)),
  call("undoingOf, whole", [v.payload], (_, [given]) => [store.undoingOf(given), store.whole(given)]),
];

/** Called rarely, because little can be called afterwards. */
export const ENDINGS: readonly Call[] = ["leave", "close", "disconnect", "destroy"].map((name) => method("room", name));

/** Rooms and channels are called more often, because they reach the core. */
export const CALLS: readonly Call[] = [
  ...[1, 2, 3, 4, 5].flatMap(() => ROOM),
  ...SCHEMA,
  ...SHARED,
  ...MOTION,
  ...STORE,
];

/** Makes one object of each kind, so that there is something to call. */
export function populate(world: World): void {
  const room = world.rooms[0] as Room;
  const chat = keep(world, "channel", room.channel("chat", groupwire.transaction())) as Channel;
  const pointer = keep(world, "channel", room.channel("pointer", groupwire.awareness())) as Channel;
  const definition = schema.defineRoom({
    channels: { chat: { ...groupwire.transaction(), schema: anySchema((value) => ({ value })) as Any } },
    shared: shared.shared({ score: shared.counter() }),
  });
  keep(world, "definition", definition);
  const typed = keep(world, "typed", definition.join(world.connect, "ws://host", "typed")) as Any;
  keep(world, "typedChannel", typed.channels.chat);
  const handle = new store.RoomHandle({ room: definition, url: "ws://host", name: "typed", connect: world.connect });
  keep(world, "handle", handle);
  keep(world, "selection", handle.others());
  for (const { name, run } of SHARED) if (name === "make data") run(world, []);
  keep(world, "follow", motion.follow(room, pointer));
  keep(world, "sender", motion.sendReckoned(pointer, { error: 1 }));
  keep(world, "lagged", motion.localLag(chat, { apply: () => {} }));
  keep(world, "predicted", motion.predict(room, chat, { init: 0, step: (state) => state + 1 }));
  const { Playout, Followers, Trace, Line, LocalLag, Prediction, Reckoning, ReckonedPlace, Damped } = motion;
  const step = (state: unknown): unknown => state;
  const classes = { Playout, Followers, Trace, Line, LocalLag, ReckonedPlace, Damped };
  for (const [kind, Class] of Object.entries(classes)) keep(world, kind, new Class());
  keep(world, "Prediction", new Prediction({ init: 0, step }));
  keep(world, "Reckoning", new Reckoning({ error: 1 }));
}
