/**
 * Which transport carries the session: the best that works, and another when it does not. No page, no clock and no
 * network in here: they are handed in, so that tests can play them.
 */

import type { Transport, TransportName } from "./api.js";
import type { Memory } from "./memory.js";
import { explain } from "./reasons.js";
import { FULL, type Link, type LinkEvents } from "./transport/link.js";

/** The next one starts when the one before has not opened for so long: a slow path, or one that swallows everything. */
export const STAGGER_MS = 200;

/** The same while the transport in use is silent: every moment counts, and most likely only one other is needed. */
const QUIET_STAGGER_MS = 100;

/** Long enough for two lost SYN packets (1 + 2 s, RFC 6298) and a TLS handshake on a poor network. */
const OPENING_MS = 10_000;

/** So long a transport may open while all others have failed, until the session is told that nothing works for now. */
const PATIENCE_MS = 2000;

/** An open transport on which the session has not begun by then is no better than a silent one. */
const JOINING_MS = 1500;

/** Better ones are tried again after so long, then twice as long, up to the longest. */
export const RETRY_MS = 15_000;
const LONGEST_RETRY_MS = 300_000;

/** A transport that worked for so long has shown that it works: what fails next is something new. */
const STABLE_MS = 60_000;

export interface Clock {
  /** Milliseconds. */
  now(): number;
  /** Returns what calls it off. */
  after(ms: number, run: () => void): () => void;
}

/** What is told of the transport in use. */
export interface ChoiceEvents extends Omit<LinkEvents, "closed"> {
  /** There is none any more; `dial` asks for one. One that was being tried may still open before. */
  closed(): void;
  /** Another is in use (undefined: none), or for another reason. */
  changed(transport: Transport | undefined): void;
}

export interface ChoiceOptions {
  /** What may be used and can be, best first. */
  readonly names: readonly TransportName[];
  /** Reports nothing before it returns. */
  readonly open: (name: TransportName, events: LinkEvents) => Link;
  readonly clock: Clock;
  readonly memory: Memory;
  readonly events: ChoiceEvents;
}

interface Attempt {
  readonly name: TransportName;
  readonly since: number;
  link: Link;
  /** It is open, with room for datagrams of so many bytes, and waits for its turn. */
  ready: number | undefined;
  /** Another was open before, after so many milliseconds. */
  beaten: number | undefined;
  callOff: () => void;
}

/** In the place of one that could not even be made. */
const NONE: Link = { send() {}, sendDatagram() {}, release() {}, close() {} };

export class Choice {
  readonly #options: ChoiceOptions;
  #names: readonly TransportName[];
  /** Beyond the names: all responses that may be held are taken, and polling holds none (T20). */
  #mayPoll = false;
  #attempts: Attempt[] = [];
  /** Not yet started in this race. */
  #queue: TransportName[] = [];
  #used: Attempt | undefined;
  /** The session wants a transport. */
  #isDialing = false;
  /** It will: transports open, and wait. */
  #isWarming = false;
  /** The session has begun on the one in use. */
  #hasJoined = false;
  #isQuiet = false;
  /** What did not work when it was tried last, and what became of it. */
  readonly #reasons = new Map<TransportName, string>();
  #retry = RETRY_MS;
  #usedSince = 0;
  #told: Transport | undefined;
  #callOffNext = (): void => {};
  #callOffRetry = (): void => {};
  #callOffJoining = (): void => {};
  #callOffPatience = (): void => {};

  constructor(options: ChoiceOptions) {
    this.#options = options;
    this.#names = options.names;
    this.#recall();
  }

  /** What may be used, best first. */
  get names(): readonly TransportName[] {
    return this.#names;
  }

  /** What is in use. */
  get transport(): Transport | undefined {
    return this.#told;
  }

  send(packet: Uint8Array<ArrayBuffer>): void {
    this.#used?.link.send(packet);
  }

  sendDatagram(packet: Uint8Array<ArrayBuffer>): void {
    this.#used?.link.sendDatagram(packet);
  }

  release(goes: boolean): void {
    this.#used?.link.release(goes);
  }

  /** There will be a session soon: connecting begins now. Reports nothing. */
  warm(): void {
    this.#isWarming = true;
    this.#race(this.#order(), STAGGER_MS);
  }

  /** The session wants a transport. Answered by `opened` or `closed`. */
  dial(): void {
    this.#isWarming = false;
    this.#isDialing = true;
    const ready = this.#ready();
    if (ready) this.#use(ready);
    else this.#race(this.#order(), STAGGER_MS);
  }

  /** The session is done with the transport in use. Nothing is reported of it any more. */
  hangup(): void {
    const used = this.#used;
    if (!used) return;
    used.link.close();
    this.#lose("carried nothing");
  }

  /** The session has begun on the transport in use. */
  joined(): void {
    const used = this.#used;
    if (!used || this.#hasJoined) return;
    this.#hasJoined = true;
    this.#isQuiet = false;
    this.#callOffJoining();
    this.#reasons.delete(used.name);
    const [best] = this.#names;
    if (best) this.#options.memory.worked(used.name, best);
    this.#remember();
    this.#settle();
    const ready = this.#ready();
    if (ready) this.#use(ready);
    else this.#tell();
  }

  /** Whether the transport in use is suspiciously silent. */
  quiet(isQuiet: boolean): void {
    if (this.#isQuiet === isQuiet || !this.#used) return;
    this.#isQuiet = isQuiet;
    if (!isQuiet) return this.#settle();
    const { name } = this.#used;
    // Another connection of the same kind, and the next kind: it may be the path, or all of this kind.
    const others = this.#order().filter((other) => other !== name);
    const [first, ...rest] = others;
    this.#start(name);
    if (first) this.#start(first);
    this.#race(rest, QUIET_STAGGER_MS);
  }

  /** The network changed, or the page woke: what did not work may work now. */
  hint(): void {
    this.#retry = RETRY_MS;
    if (this.#isDialing) {
      // They may hang on a network that is gone.
      const { clock } = this.#options;
      this.#drop((attempt) => attempt.ready === undefined && clock.now() - attempt.since > JOINING_MS);
      this.#race(this.#order(), STAGGER_MS);
    } else if (this.#used) this.#climb();
  }

  /** Other transports may be used from now on. What is in use stays until one of them is open, or all have failed. */
  choose(names: readonly TransportName[]): void {
    this.#names = names;
    this.#mayPoll = false;
    this.#retry = RETRY_MS;
    this.#reasons.clear();
    this.#drop(({ name }) => !names.includes(name));
    this.#queue = [];
    if (this.#isDialing) return this.#race(this.#order(), STAGGER_MS);
    if (!this.#used) return;
    if (this.#isAllowed(this.#used.name)) {
      this.#climb();
      this.#tell();
    } else this.#race(this.#order(), STAGGER_MS);
  }

  /** For good. */
  end(): void {
    this.#drop(() => true);
    this.#queue = [];
    this.#isDialing = this.#isWarming = false;
    this.#used?.link.close();
    this.#used = undefined;
    this.#quit();
    this.#callOffRetry();
    this.#told = undefined;
  }

  #race(names: readonly TransportName[], stagger: number): void {
    this.#queue = names.filter((name) => !this.#attempts.some((attempt) => attempt.name === name));
    this.#next(stagger);
  }

  /** Starts the next of the race, and the one after that later. */
  #next(stagger: number): void {
    this.#callOffNext();
    const name = this.#queue.shift();
    if (name) this.#start(name);
    if (this.#queue.length > 0) this.#callOffNext = this.#options.clock.after(stagger, () => this.#next(stagger));
    else this.#judge();
  }

  #start(name: TransportName): void {
    const { clock, open } = this.#options;
    const attempt: Attempt = {
      name,
      since: clock.now(),
      link: NONE,
      ready: undefined,
      beaten: undefined,
      callOff: clock.after(OPENING_MS, () => {
        attempt.link.close();
        this.#failed(attempt, `did not answer within ${OPENING_MS / 1000} s`);
      }),
    };
    const ifUsed = (run: () => void): void => void (this.#used === attempt && run());
    const { events } = this.#options;
    this.#attempts.push(attempt);
    const linkEvents: LinkEvents = {
      opened: (maxDatagram) => this.#opened(attempt, maxDatagram),
      received: (packet) => ifUsed(() => events.received(packet)),
      receivedDatagram: (packet) => ifUsed(() => events.receivedDatagram(packet)),
      sent: () => ifUsed(() => events.sent()),
      datagramSent: () => ifUsed(() => events.datagramSent()),
      closed: (reason) => {
        if (this.#used === attempt) this.#lost(reason);
        else this.#failed(attempt, reason);
      },
    };
    try {
      attempt.link = open(name, linkEvents);
    } catch {
      // A page from https may not use ws, for example. Not within this call: it may be the first of several.
      attempt.callOff();
      attempt.callOff = clock.after(0, () => this.#failed(attempt, "is not permitted here"));
    }
  }

  #opened(attempt: Attempt, maxDatagram: number): void {
    if (!this.#attempts.includes(attempt)) return;
    attempt.callOff();
    attempt.ready = maxDatagram;
    const used = this.#used;
    if (!used && this.#isWarming) return this.#settle(attempt.name);
    if (!used) return this.#use(attempt);
    const isWanted = this.#isQuiet || !this.#isAllowed(used.name) || this.#isBetter(attempt.name, used.name);
    if (!isWanted) return this.#drop((other) => other === attempt);
    // A session that moves while it is being taken in may leave a participant behind that nobody is.
    if (this.#hasJoined) return this.#use(attempt);
    if (!this.#isQuiet) return;
    this.#reasons.set(used.name, "opened, but carried nothing");
    this.#use(attempt);
  }

  /** The session goes on there. */
  #use(attempt: Attempt): void {
    const { clock, events } = this.#options;
    const before = this.#used;
    if (before && this.#isQuiet && this.#hasJoined) this.#reasons.set(before.name, "fell silent");
    before?.link.close();
    this.#attempts = this.#attempts.filter((other) => other !== attempt);
    this.#quit();
    this.#used = attempt;
    this.#usedSince = clock.now();
    for (const other of this.#attempts) other.beaten ??= clock.now() - other.since;
    this.#isDialing = false;
    this.#callOffJoining = clock.after(JOINING_MS, () => this.#late());
    this.#settle();
    this.#plan();
    this.#tell();
    events.opened(attempt.ready ?? 0);
  }

  /** The race is over: only better ones than the winner go on. */
  #settle(winner: TransportName | undefined = this.#used?.name): void {
    this.#queue = [];
    this.#callOffNext();
    const goesOn = ({ name, ready }: Attempt): boolean =>
      winner !== undefined &&
      (this.#isBetter(name, winner) || (this.#isWarming && name === winner && ready !== undefined));
    this.#drop((attempt) => !goesOn(attempt));
  }

  /** The session does not begin on the transport in use. */
  #late(): void {
    const used = this.#used;
    if (!used || this.#hasJoined) return;
    const ready = this.#ready();
    if (ready) {
      this.#reasons.set(used.name, "opened, but carried nothing");
      return this.#use(ready);
    }
    this.#isQuiet = true;
    const others = this.#order().filter((name) => name !== used.name);
    this.#race(others, QUIET_STAGGER_MS);
  }

  /** The transport in use broke. */
  #lost(reason: string): void {
    this.#lose(reason);
    this.#options.events.closed();
    const ready = this.#ready();
    if (ready) this.#use(ready);
  }

  #lose(reason: string): void {
    const used = this.#used;
    if (!used) return;
    // One that never carried anything comes last next time; one that did most likely will again.
    if (this.#hasJoined) this.#reasons.delete(used.name);
    else this.#reasons.set(used.name, `opened, but ${reason}`);
    this.#used = undefined;
    this.#quit();
    this.#callOffRetry();
    this.#queue = [];
    this.#callOffNext();
    this.#tell();
  }

  #failed(attempt: Attempt, reason: string): void {
    if (!this.#attempts.includes(attempt)) return;
    attempt.callOff();
    this.#attempts = this.#attempts.filter((other) => other !== attempt);
    if (reason === FULL && !this.#mayPoll && !this.#names.includes("poll")) {
      this.#mayPoll = true;
      this.#queue.push("poll");
    }
    // One that was open and waited too long did work.
    if (attempt.ready === undefined) this.#reasons.set(attempt.name, reason);
    this.#remember();
    if (this.#queue.length > 0) this.#next(this.#isQuiet ? QUIET_STAGGER_MS : STAGGER_MS);
    else this.#judge();
    this.#tell();
  }

  /** Whether there is still something to wait for. */
  #judge(): void {
    this.#callOffPatience();
    const { clock, events } = this.#options;
    const isEvicted = this.#used !== undefined && !this.#isAllowed(this.#used.name);
    if (this.#queue.length > 0 || !(this.#isDialing || isEvicted)) return;
    const waits = this.#attempts.map(({ since }) => since + PATIENCE_MS - clock.now());
    const wait = Math.max(...waits);
    const isAlone = this.#attempts.length > 0 && this.#attempts.length >= this.#effective.length;
    // A path that swallows everything must not keep the session from trying the others again.
    if (waits.length > 0 && (wait > 0 || isAlone)) {
      if (!isAlone) this.#callOffPatience = clock.after(wait, () => this.#judge());
      return;
    }
    // When nothing works it is not for the transports: the next search begins with the best again.
    this.#reasons.clear();
    this.#isDialing = false;
    if (this.#used) {
      this.#used.link.close();
      this.#lose("is not allowed any more");
      this.#reasons.clear();
    }
    events.closed();
  }

  /** Tries better ones again, later. */
  #plan(): void {
    this.#callOffRetry();
    const used = this.#used;
    if (!used || this.#better(used.name).length === 0) return;
    this.#callOffRetry = this.#options.clock.after(this.#retry, () => {
      this.#retry = Math.min(this.#retry * 2, LONGEST_RETRY_MS);
      this.#climb();
    });
  }

  /** Tries all better ones now. */
  #climb(): void {
    const used = this.#used;
    if (!used) return;
    for (const name of this.#better(used.name)) {
      if (!this.#attempts.some((attempt) => attempt.name === name)) this.#start(name);
    }
    this.#plan();
  }

  /** All that may be used: first what has not failed, then the rest, each best first. */
  #order(): TransportName[] {
    const names = this.#effective;
    const hasFailed = (name: TransportName): boolean => this.#reasons.has(name);
    return [...names.filter((name) => !hasFailed(name)), ...names.filter(hasFailed)];
  }

  get #effective(): readonly TransportName[] {
    return this.#mayPoll ? [...this.#names, "poll"] : this.#names;
  }

  #isAllowed(name: TransportName): boolean {
    return this.#effective.includes(name);
  }

  #better(name: TransportName): readonly TransportName[] {
    const names = this.#effective;
    const at = names.indexOf(name);
    // All are better than one that is not allowed any more.
    return at < 0 ? names : names.slice(0, at);
  }

  #isBetter(one: TransportName, other: TransportName): boolean {
    return this.#better(other).includes(one);
  }

  /** The best of those that are open and wait. */
  #ready(): Attempt | undefined {
    const names = this.#effective;
    const ready = this.#attempts.filter((attempt) => attempt.ready !== undefined);
    return ready.sort((a, b) => names.indexOf(a.name) - names.indexOf(b.name))[0];
  }

  #drop(which: (attempt: Attempt) => boolean): void {
    const dropped = this.#attempts.filter(which);
    this.#attempts = this.#attempts.filter((attempt) => !dropped.includes(attempt));
    for (const { link, callOff } of dropped) {
      callOff();
      link.close();
    }
  }

  /** Forgets what was true of the transport that was in use. */
  #quit(): void {
    if (this.#hasJoined && this.#options.clock.now() - this.#usedSince >= STABLE_MS) this.#retry = RETRY_MS;
    this.#hasJoined = false;
    this.#isQuiet = false;
    this.#callOffJoining();
    this.#callOffPatience();
  }

  /** What never worked here before comes last. */
  #recall(): void {
    const [best] = this.#names;
    const instead = best && this.#options.memory.recall(best);
    if (!instead) return;
    for (const name of this.#better(instead)) this.#reasons.set(name, "did not work here before");
  }

  #remember(): void {
    const [best] = this.#names;
    const name = this.#hasJoined && this.#used?.name;
    if (!best || !name || name === best || !this.#reasons.has(best)) return;
    this.#options.memory.fellBack(name, best);
  }

  #tell(): void {
    const { events } = this.#options;
    const used = this.#used;
    const transport = used && {
      name: used.name,
      why: explain({
        name: used.name,
        names: this.#names,
        reasons: this.#reasons,
        opening: new Map(this.#attempts.map(({ name, beaten = 0 }) => [name, beaten])),
        retry: this.#retry,
      }),
    };
    if (transport?.name === this.#told?.name && transport?.why === this.#told?.why) return;
    this.#told = transport;
    events.changed(transport);
  }
}
