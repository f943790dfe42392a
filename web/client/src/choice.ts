/**
 * Chooses the transport that carries the session: the best that works, and another one when it
 * breaks. Page, clock and network are passed in, so that tests can simulate them.
 */

import type { Transport, TransportName } from "./api.js";
import type { Memory } from "./memory.js";
import { Ranking } from "./ranking.js";
import { explain, LABELS } from "./reasons.js";
import { isGoodbye } from "./goodbye.js";
import { FULL, type Link, type LinkEvents } from "./transport/link.js";

/**
 * The next transport starts when the one before has not opened within this time: its path is slow
 * or drops all packets.
 */
const STAGGER_MS = 200;

/**
 * The same while the transport in use is silent: faster, because the session is interrupted, and
 * one other transport is most likely enough.
 */
const QUIET_STAGGER_MS = 100;

/**
 * If all transports fail while the one in use is silent, they are tried again after this time, then
 * after twice as long each time.
 */
const QUIET_AGAIN_MS = 500;

/**
 * The time for a transport to open: two lost SYN packets (1 + 2 s, RFC 6298) and a TLS handshake on
 * a poor network.
 */
const OPENING_MS = 10_000;

/**
 * How long one transport may go on opening after all others have failed, before the core is told
 * that none works.
 */
const PATIENCE_MS = 2000;

/**
 * How long an open transport may take until the session has joined on it. After that it is treated
 * as silent.
 */
const JOINING_MS = 1500;

/**
 * Better transports are tried again after this time, then after twice as long each time, up to the
 * longest.
 */
export const RETRY_MS = 15_000;
const LONGEST_RETRY_MS = 300_000;

/**
 * A transport that has carried a session for this long works. If better ones fail after that, the
 * retry interval starts anew.
 */
const STABLE_MS = 60_000;

export interface Clock {
  /** Milliseconds. */
  now(): number;
  /** Returns a function that cancels the timer. */
  after(ms: number, run: () => void): () => void;
}

/** Events of the transport in use. */
export interface ChoiceEvents extends Omit<LinkEvents, "closed"> {
  /**
   * The transport in use was lost; `dial` requests another one. A transport that was still opening
   * may be used before that.
   */
  closed(): void;
  /**
   * A round has failed: it was answered by `closed`, the session could not join on the transport
   * that opened, or nothing has answered for long and the round goes on. `isFull`: all transports
   * were tried. `why` gives the result of each, as a part of a sentence.
   */
  failed(isFull: boolean, why: string): void;
  /** Another transport is in use (undefined: none), or the reason for it has changed. */
  changed(transport: Transport | undefined): void;
}

export interface ChoiceOptions {
  /** The transports that are allowed and available, best first. */
  readonly names: readonly TransportName[];
  /**
   * Opens a link to the server that has the room, or to the application's server. It must not
   * report an event before it returns.
   */
  readonly open: (name: TransportName, events: LinkEvents, owner: URL | undefined) => Link;
  readonly clock: Clock;
  readonly memory: Memory;
  readonly events: ChoiceEvents;
}

interface Attempt {
  readonly name: TransportName;
  /** The server that has the room, if the link leads there. */
  readonly owner: URL | undefined;
  readonly since: number;
  link: Link;
  /** The largest datagram in bytes, once the link is open and waits to be used. */
  ready: number | undefined;
  /** True once the server has said over this link that the client has to come back later. */
  saysGoodbye: boolean;
  /** Milliseconds from the start of this attempt until another link was in use. */
  overtakenAfter: number | undefined;
  cancel: () => void;
}

/** The link of an attempt that could not be created. */
const NONE: Link = { send() {}, sendDatagram() {}, release() {}, close() {} };

export class Choice {
  readonly #options: ChoiceOptions;
  readonly #ranking: Ranking;
  #attempts: Attempt[] = [];
  /** The transports of the current race that have not been started. */
  #queue: TransportName[] = [];
  #used: Attempt | undefined;
  /** True while the session waits for a transport. */
  #isDialing = false;
  /** True while a round tries one transport only, and until the session has joined on it. */
  #isNarrow = false;
  /** This round was reported as failed, although some of its transports may still open. */
  #isStalled = false;
  /** Milliseconds until all transports are tried again in place of a silent one. */
  #quietAgain = QUIET_AGAIN_MS;
  /** The transport on which the session joined last. */
  #lastJoined: TransportName | undefined;
  /** True before the session's first `dial`: links may open but are not used yet. */
  #isPreconnecting = false;
  /** True once the session has joined on the transport in use. */
  #hasJoined = false;
  #isQuiet = false;
  /**
   * True while better transports that open have to wait, because the session will soon move in any
   * case.
   */
  #isHolding = false;
  /**
   * The transport in use, if the session wants to move away from it even to another link of the
   * same kind.
   */
  #stale: Attempt | undefined;
  /** The server that has the room, while links are opened to it in place of the application's. */
  #owner: URL | undefined;
  #retry = RETRY_MS;
  #usedSince = 0;
  #reported: Transport | undefined;
  #cancelNext = (): void => {};
  #cancelRetry = (): void => {};
  #cancelJoining = (): void => {};
  #cancelPatience = (): void => {};

  constructor(options: ChoiceOptions) {
    this.#options = options;
    this.#ranking = new Ranking(options.names, options.memory);
  }

  /** The allowed transports, best first. */
  get names(): readonly TransportName[] {
    return this.#ranking.names;
  }

  /** The transport in use. */
  get transport(): Transport | undefined {
    return this.#reported;
  }

  send(packet: Uint8Array<ArrayBuffer>): void {
    this.#used?.link.send(packet);
  }

  sendDatagram(packet: Uint8Array<ArrayBuffer>): void {
    this.#used?.link.sendDatagram(packet);
  }

  release(pageCloses: boolean): void {
    this.#used?.link.release(pageCloses);
  }

  /** Starts to connect before the session asks for a transport. Reports no event but `failed`. */
  preconnect(): void {
    this.#isPreconnecting = true;
    this.#race(this.#ranking.order(), STAGGER_MS);
  }

  /** The session wants a transport. The answer is the event `opened` or `closed`. */
  dial(): void {
    this.#isNarrow = false;
    this.#dial(this.#ranking.order());
  }

  /**
   * The same, but only one transport is tried: that on which the session joined last, or one that
   * asks the server nothing else.
   */
  dialOne(): void {
    const allowed = this.#ranking.order();
    const likely = [this.#lastJoined, "websocket" as const].find((name) => name && allowed.includes(name));
    this.#isNarrow = true;
    this.#dial(likely ? [likely] : allowed.slice(0, 1));
  }

  #dial(names: readonly TransportName[]): void {
    this.#isPreconnecting = this.#isStalled = false;
    this.#isDialing = true;
    const ready = this.#ready();
    if (ready) this.#use(ready);
    else this.#race(names, STAGGER_MS);
  }

  /** Closes the transport in use at the session's request. It reports no further event. */
  hangup(): void {
    const used = this.#used;
    if (!used) return;
    used.link.close();
    // Opening transports are dropped: if one opened now, the client would be back before the time
    // that the server named.
    if (used.saysGoodbye) this.#drop(() => true);
    this.#clearUsed("carried nothing");
  }

  /** The result of each transport that was tried, as a part of a sentence. */
  get #tried(): string {
    return [...this.#ranking.reasons].map(([name, reason]) => `${LABELS[name]} ${reason}`).join(", ");
  }

  /** The session has joined on the transport in use. */
  joined(): void {
    const used = this.#used;
    if (!used || this.#hasJoined) return;
    this.#hasJoined = true;
    this.#isQuiet = false;
    this.#lastJoined = used.name;
    this.#cancelJoining();
    this.#ranking.forgive(used.name);
    this.#ranking.carries(used.name);
    this.#settle();
    const ready = this.#ready();
    if (ready && !this.#isHolding) this.#use(ready);
    else if (this.#stale) this.renew();
    else this.#report();
    // The server can be reached again, so better transports need not wait for the next retry.
    if (this.#isNarrow && this.#used === used) this.#tryBetter();
    this.#isNarrow = false;
  }

  /** The session will call `renew` soon: until then it does not move to better transports. */
  hold(): void {
    this.#isHolding = true;
  }

  /** Ends `hold` without a move: the session stays as it is for now. */
  unhold(): void {
    this.#isHolding = false;
    const ready = this.#ready();
    if (ready && this.#hasJoined) this.#use(ready);
  }

  /**
   * The session can do more on its next transport: moves it to a better one that waits, or to
   * another link of the same kind as soon as that is open.
   */
  renew(): void {
    this.#isHolding = false;
    const used = this.#used;
    if (!used) return;
    const ready = this.#ready();
    if (this.#hasJoined && ready) return this.#use(ready);
    this.#stale = used;
    if (this.#hasJoined && this.#ranking.isAllowed(used.name)) this.#start(used.name);
  }

  /**
   * The room is on another server than the one in use: moves the session there as soon as a link is
   * open. It stays if that server cannot be reached, and comes back when the link breaks. Such a
   * server is not followed any further, which could go round in circles.
   */
  move(owner: URL): void {
    if (!this.#used || this.#used.owner) return;
    this.#drop(() => true);
    this.#queue = [];
    this.#owner = owner;
    this.renew();
  }

  /** The core reports whether the transport in use is suspiciously silent. */
  quiet(isQuiet: boolean): void {
    if (this.#isQuiet === isQuiet || !this.#used) return;
    this.#isQuiet = isQuiet;
    const ready = this.#ready();
    // The server that has the room may be gone, and the application's server knows of another.
    if (isQuiet) this.#stay();
    if (!isQuiet) this.#settle();
    else if (ready) this.#use(ready);
    else this.#tryOthers();
  }

  /** From now on, links are opened to the application's server. */
  #stay(): void {
    this.#owner = undefined;
    this.#drop(({ owner }) => owner !== undefined);
  }

  #tryOthers(): void {
    const used = this.#used;
    if (!used || !this.#isQuiet) return;
    // Another link of the same kind, and the next kind: either the connection is dead, or all
    // connections of this kind are.
    const others = this.#ranking.order().filter((other) => other !== used.name);
    const first = others.find((name) => !this.#attempts.some((attempt) => attempt.name === name));
    if (this.#ranking.isAllowed(used.name)) this.#start(used.name);
    if (first) this.#start(first);
    this.#race(others, QUIET_STAGGER_MS);
  }

  /** The network has changed or the page is active again: transports that failed may work now. */
  hint(): void {
    this.#retry = RETRY_MS;
    if (this.#isDialing) {
      // Attempts that are this old may hang on a network that is gone.
      const { clock } = this.#options;
      this.#drop((attempt) => attempt.ready === undefined && clock.now() - attempt.since > JOINING_MS);
      this.#isNarrow = false;
      this.#race(this.#ranking.order(), STAGGER_MS);
    } else if (this.#used) this.#tryBetter();
  }

  /**
   * Changes the allowed transports. The one in use stays until one of them is open or all have
   * failed.
   */
  choose(names: readonly TransportName[]): void {
    this.#ranking.names = names;
    this.#retry = RETRY_MS;
    this.#drop(({ name }) => !names.includes(name));
    this.#queue = [];
    this.#isNarrow = false;
    if (this.#isDialing) return this.#race(this.#ranking.order(), STAGGER_MS);
    if (!this.#used) return;
    if (this.#ranking.isAllowed(this.#used.name)) {
      this.#tryBetter();
      this.#report();
    } else this.#race(this.#ranking.order(), STAGGER_MS);
  }

  /** Closes all links for good. */
  end(): void {
    this.#drop(() => true);
    this.#queue = [];
    this.#isDialing = this.#isPreconnecting = false;
    this.#used?.link.close();
    this.#used = undefined;
    this.#resetUsed();
    this.#cancelRetry();
    this.#reported = undefined;
  }

  #race(names: readonly TransportName[], stagger: number): void {
    this.#queue = names.filter((name) => !this.#attempts.some((attempt) => attempt.name === name));
    this.#next(stagger);
  }

  /** Starts the next transport of the race, and a timer for the one after it. */
  #next(stagger: number): void {
    this.#cancelNext();
    const name = this.#queue.shift();
    if (name) this.#start(name);
    if (this.#queue.length > 0) this.#cancelNext = this.#options.clock.after(stagger, () => this.#next(stagger));
    else this.#checkAttempts();
  }

  #start(name: TransportName): void {
    const { clock, open } = this.#options;
    const attempt: Attempt = {
      name,
      owner: this.#owner,
      since: clock.now(),
      link: NONE,
      ready: undefined,
      saysGoodbye: false,
      overtakenAfter: undefined,
      cancel: clock.after(OPENING_MS, () => {
        attempt.link.close();
        this.#failed(attempt, `did not answer within ${OPENING_MS / 1000} s`);
      }),
    };
    const ifUsed = (run: () => void): void => void (this.#used === attempt && run());
    const { events } = this.#options;
    this.#attempts.push(attempt);
    const linkEvents: LinkEvents = {
      opened: (maxDatagram) => this.#opened(attempt, maxDatagram),
      received: (packet) =>
        ifUsed(() => {
          attempt.saysGoodbye ||= !this.#hasJoined && isGoodbye(packet);
          events.received(packet);
        }),
      receivedDatagram: (packet) => ifUsed(() => events.receivedDatagram(packet)),
      sent: () => ifUsed(() => events.sent()),
      datagramSent: () => ifUsed(() => events.datagramSent()),
      closed: (reason) => {
        if (this.#used === attempt) this.#linkBroke(reason);
        else this.#failed(attempt, reason);
      },
    };
    try {
      attempt.link = open(name, linkEvents, attempt.owner);
    } catch {
      // For example, a page from https may not open ws. Reported later, because this call may be
      // the first of several.
      attempt.cancel();
      attempt.cancel = clock.after(0, () => this.#failed(attempt, "is not permitted here"));
    }
  }

  #opened(attempt: Attempt, maxDatagram: number): void {
    if (!this.#attempts.includes(attempt)) return;
    attempt.cancel();
    attempt.ready = maxDatagram;
    const used = this.#used;
    if (!used && this.#isPreconnecting) return this.#settle(attempt.name);
    if (!used) return this.#use(attempt);
    const isUrgent = this.#isQuiet || !this.#ranking.isAllowed(used.name);
    const isWanted = isUrgent || this.#ranking.isBetter(attempt.name, used.name) || attempt.name === this.#stale?.name;
    if (!isWanted) return this.#drop((other) => other === attempt);
    // Before the session has joined it cannot move: the server could keep the first attempt as a
    // participant of its own.
    if (this.#hasJoined) return this.#isHolding && !isUrgent ? undefined : this.#use(attempt);
    if (!this.#isQuiet) return;
    this.#ranking.failed(used.name, "opened, but carried nothing");
    this.#use(attempt);
  }

  /** Moves the session to the link of this attempt. */
  #use(attempt: Attempt): void {
    const { clock, events } = this.#options;
    const before = this.#used;
    if (before && this.#isQuiet && this.#hasJoined) this.#ranking.failed(before.name, "fell silent");
    before?.link.close();
    this.#attempts = this.#attempts.filter((other) => other !== attempt);
    this.#resetUsed();
    this.#used = attempt;
    this.#usedSince = clock.now();
    for (const other of this.#attempts) other.overtakenAfter ??= clock.now() - other.since;
    this.#isDialing = false;
    this.#cancelJoining = clock.after(JOINING_MS, () => this.#joinTimedOut());
    this.#settle();
    this.#scheduleRetry();
    this.#report();
    events.opened(attempt.ready ?? 0);
  }

  /** Ends the race. Only attempts of transports that are better than the winner go on. */
  #settle(winner: TransportName | undefined = this.#used?.name): void {
    this.#queue = [];
    this.#cancelNext();
    const goesOn = ({ name, ready }: Attempt): boolean =>
      winner !== undefined &&
      (this.#ranking.isBetter(name, winner) ||
        name === this.#stale?.name ||
        (this.#isPreconnecting && name === winner && ready !== undefined));
    this.#drop((attempt) => !goesOn(attempt));
  }

  /** The session has not joined in time on the transport in use. */
  #joinTimedOut(): void {
    const used = this.#used;
    if (!used || this.#hasJoined) return;
    const ready = this.#ready();
    if (ready) {
      this.#ranking.failed(used.name, "opened, but carried nothing");
      return this.#use(ready);
    }
    this.#isQuiet = true;
    this.#stay();
    const others = this.#ranking.order().filter((name) => used.owner || name !== used.name);
    this.#race(others, QUIET_STAGGER_MS);
  }

  /** The transport in use has broken. */
  #linkBroke(reason: string): void {
    // Browsers break WebTransport when the machine's address changes: the next link opens while the
    // session still waits to dial. A server that fails breaks WebSockets, too, and its clients must
    // not come back all at once.
    const hasMoved = this.#hasJoined && this.#used?.name === "webtransport" && reason === "broke";
    this.#clearUsed(reason);
    // Before the session learns of it, which may end all links.
    if (hasMoved && !this.#isDialing && !this.#ready()) this.preconnect();
    this.#options.events.closed();
    const ready = this.#ready();
    if (ready) this.#use(ready);
  }

  #clearUsed(reason: string): void {
    const used = this.#used;
    if (!used) return;
    // A transport that never carried a session goes to the end of the order. A transport that did
    // most likely works again, and so does one over which the server said when to come back.
    const hasWorked = this.#hasJoined || used.saysGoodbye;
    if (hasWorked) this.#ranking.forgive(used.name);
    else this.#ranking.failed(used.name, `opened, but ${reason}`);
    this.#used = undefined;
    this.#resetUsed();
    this.#stay();
    this.#cancelRetry();
    this.#queue = [];
    this.#cancelNext();
    if (!hasWorked) this.#options.events.failed(!this.#isNarrow, this.#tried);
    this.#isNarrow = false;
    this.#report();
  }

  #failed(attempt: Attempt, reason: string): void {
    if (!this.#attempts.includes(attempt)) return;
    attempt.cancel();
    this.#attempts = this.#attempts.filter((other) => other !== attempt);
    if (reason === FULL && this.#ranking.allowPolling()) this.#queue.push("poll");
    const stale = this.#stale;
    if (attempt.owner && !this.#used?.owner) {
      // The session stays, and nothing is learnt about its own server.
      this.#owner = this.#stale = undefined;
    } else if (stale?.name === attempt.name) {
      // The transport works, as it is in use: a further link of its kind may be one too many for
      // now.
      this.#options.clock.after(this.#retry, () => this.#stale === stale && this.renew());
    }
    // An attempt that was open and waited for too long is not a failure of its transport.
    else if (attempt.ready === undefined) this.#ranking.failed(attempt.name, reason);
    if (this.#hasJoined && this.#used) this.#ranking.remember(this.#used.name);
    if (this.#queue.length > 0) this.#next(this.#isQuiet ? QUIET_STAGGER_MS : STAGGER_MS);
    else this.#checkAttempts();
    this.#report();
  }

  /** Decides whether to wait for the remaining attempts or to report that no transport works. */
  #checkAttempts(): void {
    this.#cancelPatience();
    const { clock, events } = this.#options;
    const isEvicted = this.#used !== undefined && !this.#ranking.isAllowed(this.#used.name);
    if (this.#isQuiet && this.#queue.length + this.#attempts.length === 0) {
      this.#cancelPatience = clock.after(this.#quietAgain, () => this.#tryOthers());
      this.#quietAgain *= 2;
      return;
    }
    if (this.#isPreconnecting && this.#queue.length + this.#attempts.length === 0) return this.#roundFailed();
    if (this.#queue.length > 0 || !(this.#isDialing || isEvicted)) return;
    const waits = this.#attempts.map(({ since }) => since + PATIENCE_MS - clock.now());
    const wait = Math.max(...waits);
    const isAlone = this.#attempts.length > 0 && this.#attempts.length >= this.#ranking.all.length;
    // A transport that drops all packets must not keep the session from trying the others again.
    if (waits.length > 0 && (wait > 0 || isAlone)) {
      if (wait > 0) this.#cancelPatience = clock.after(wait, () => this.#checkAttempts());
      else this.#stalled();
      return;
    }
    const used = this.#used;
    this.#roundFailed();
    if (used) {
      used.link.close();
      this.#clearUsed("is not allowed any more");
      this.#ranking.forgiveAll();
    }
    events.closed();
  }

  #roundFailed(): void {
    const [isFull, tried] = [!this.#isNarrow, this.#tried];
    // If nothing works, the transports are not the cause: the next search begins with the best
    // again.
    this.#ranking.forgiveAll();
    this.#isDialing = this.#isPreconnecting = this.#isNarrow = false;
    this.#options.events.failed(isFull, tried);
  }

  /**
   * The round goes on, but nothing has answered for long: what may be wrong is found out meanwhile.
   */
  #stalled(): void {
    if (this.#isStalled) return;
    this.#isStalled = true;
    const waiting = this.#attempts.map(({ name }) => `${LABELS[name]} has not answered yet`);
    this.#options.events.failed(!this.#isNarrow, [this.#tried, ...waiting].filter(Boolean).join(", "));
  }

  /** Schedules the next attempt at better transports. */
  #scheduleRetry(): void {
    this.#cancelRetry();
    const used = this.#used;
    if (!used || this.#ranking.better(used.name).length === 0) return;
    this.#cancelRetry = this.#options.clock.after(this.#retry, () => {
      this.#retry = Math.min(this.#retry * 2, LONGEST_RETRY_MS);
      this.#tryBetter();
    });
  }

  /** Starts all better transports now. */
  #tryBetter(): void {
    const used = this.#used;
    if (!used) return;
    for (const name of this.#ranking.better(used.name)) {
      if (!this.#attempts.some((attempt) => attempt.name === name)) this.#start(name);
    }
    this.#scheduleRetry();
  }

  /** The best attempt whose link is open and waits to be used. */
  #ready(): Attempt | undefined {
    const names = this.#ranking.all;
    const ready = this.#attempts.filter((attempt) => attempt.ready !== undefined);
    return ready.sort((a, b) => names.indexOf(a.name) - names.indexOf(b.name))[0];
  }

  #drop(which: (attempt: Attempt) => boolean): void {
    const dropped = this.#attempts.filter(which);
    this.#attempts = this.#attempts.filter((attempt) => !dropped.includes(attempt));
    for (const { link, cancel } of dropped) {
      cancel();
      link.close();
    }
  }

  /** Resets the state that belongs to the transport in use. */
  #resetUsed(): void {
    if (this.#hasJoined && this.#options.clock.now() - this.#usedSince >= STABLE_MS) this.#retry = RETRY_MS;
    this.#hasJoined = false;
    this.#isQuiet = false;
    this.#quietAgain = QUIET_AGAIN_MS;
    this.#stale = undefined;
    this.#cancelJoining();
    this.#cancelPatience();
  }

  #report(): void {
    const { events } = this.#options;
    const used = this.#used;
    const transport = used && {
      name: used.name,
      why: explain({
        name: used.name,
        names: this.#ranking.names,
        reasons: this.#ranking.reasons,
        opening: new Map(this.#attempts.map(({ name, overtakenAfter = 0 }) => [name, overtakenAfter])),
        retry: this.#retry,
      }),
    };
    if (transport?.name === this.#reported?.name && transport?.why === this.#reported?.why) return;
    this.#reported = transport;
    events.changed(transport);
  }
}
