/** A link to the server that loses and delays packets. */

import type { Path } from "../testing/path.js";
import type { Link, LinkEvents } from "../transport/link.js";

/** The network of a {@link WorseLink}. */
export interface Worse {
  readonly path: Path;
  readonly isOffline: boolean;
}

/** Round trips until a link is open, which take the longer the worse the network is. */
const ROUND_TRIPS = 2;

/** One direction of a stream: packets arrive in the order in which they were sent. */
class Lane {
  #waiting: { readonly at: number; readonly run: () => void }[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  /**
   * Runs an arrival after `ms`, and not before the earlier ones. Returns true if that is at once.
   */
  push(ms: number, run: () => void): boolean {
    const last = this.#waiting.at(-1);
    if (ms <= 0 && !last) {
      run();
      return true;
    }
    this.#waiting.push({ at: Math.max(performance.now() + ms, last?.at ?? 0), run });
    if (!last) this.#wait();
    return false;
  }

  /** All packets that are under way arrive now. */
  flush(): void {
    const waiting = this.#waiting;
    this.clear();
    for (const { run } of waiting) run();
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#waiting = [];
  }

  #wait(): void {
    clearTimeout(this.#timer);
    const [first] = this.#waiting;
    if (first) this.#timer = setTimeout(() => this.#arrive(), first.at - performance.now());
  }

  /** The first packet arrives, and those that are due with it. Each may end this lane. */
  #arrive(): void {
    const now = performance.now();
    do this.#waiting.shift()?.run();
    while ((this.#waiting[0]?.at ?? Infinity) <= now);
    this.#wait();
  }
}

export class WorseLink implements Link {
  readonly #worse: Worse;
  readonly #events: LinkEvents;
  readonly #ended: () => void;
  readonly #inner: Link | undefined;
  readonly #up = new Lane();
  readonly #down = new Lane();
  /**
   * For each packet that the inner link has: whether its report is passed on. Delayed packets were
   * reported before.
   */
  readonly #reports: boolean[] = [];
  readonly #datagramReports: boolean[] = [];
  /** Delayed packets that are not reported yet. */
  #unreported = 0;
  /** The core hands over its last packets, which are not delayed any more. */
  #isReleased = false;
  #isDone = false;

  /** `ended` is called once when the link is closed, by either side. */
  constructor(worse: Worse, events: LinkEvents, open: (events: LinkEvents) => Link, ended: () => void) {
    this.#worse = worse;
    this.#events = events;
    this.#ended = ended;
    const { path } = worse;
    if (worse.isOffline) this.#refuse();
    else
      this.#inner = open({
        opened: (maxDatagram) => this.#down.push(path.handshakeTime(ROUND_TRIPS), () => events.opened(maxDatagram)),
        received: (packet) =>
          this.#down.push(path.streamTime("down", packet.length).time, () => events.received(packet)),
        receivedDatagram: (packet) => {
          const time = path.datagramTime("down");
          if (time !== undefined) this.#later(time, () => events.receivedDatagram(packet));
        },
        sent: () => this.#reports.shift() && events.sent(),
        datagramSent: () => this.#datagramReports.shift() && events.datagramSent(),
        closed: (reason) => this.#down.push(0, () => this.#end(() => events.closed(reason))),
      });
  }

  send(packet: Uint8Array<ArrayBuffer>): void {
    const time = this.#isReleased ? 0 : this.#worse.path.streamTime("up", packet.length).time;
    let isLate = false;
    const hasLeft = this.#up.push(time, () => {
      this.#reports.push(!isLate);
      this.#inner?.send(packet);
    });
    if (hasLeft) return;
    // For the core it has left when it is under way.
    isLate = true;
    this.#unreported += 1;
    this.#soon(() => this.#report(1));
  }

  sendDatagram(packet: Uint8Array<ArrayBuffer>): void {
    const time = this.#worse.path.datagramTime("up");
    const isDelayed = time === undefined || time > 0;
    if (isDelayed) this.#soon(() => this.#events.datagramSent());
    if (time === undefined) return;
    this.#later(time, () => {
      this.#datagramReports.push(!isDelayed);
      this.#inner?.sendDatagram(packet);
    });
  }

  release(pageCloses: boolean): void {
    this.#isReleased = true;
    this.#up.flush();
    this.#report(this.#unreported);
    this.#inner?.release(pageCloses);
  }

  close(): void {
    this.#end(() => {
      this.#up.flush();
      this.#inner?.close();
    });
  }

  /** The network is gone, as when a cable is pulled: what is under way is lost. */
  breaks(): void {
    this.#end(() => {
      this.#up.clear();
      this.#inner?.close();
      this.#events.closed("broke");
    });
  }

  /** From now on the network is as it is: what is under way arrives. */
  passes(): void {
    this.#up.flush();
    this.#down.flush();
  }

  #report(count: number): void {
    const reported = Math.min(count, this.#unreported);
    // Before the reports, because each may make the core send the next packet.
    this.#unreported -= reported;
    for (let at = 0; at < reported && !this.#isDone; at += 1) this.#events.sent();
  }

  #refuse(): void {
    this.#soon(() => this.#end(() => this.#events.closed("is switched off by the devtools")));
  }

  #end(run: () => void): void {
    if (this.#isDone) return;
    this.#isDone = true;
    this.#down.clear();
    this.#ended();
    run();
  }

  #later(ms: number, run: () => void): void {
    if (ms <= 0) run();
    else setTimeout(() => this.#isDone || run(), ms);
  }

  /** After the core's call: the core is not asked within itself. */
  #soon(run: () => void): void {
    void Promise.resolve().then(() => this.#isDone || run());
  }
}
