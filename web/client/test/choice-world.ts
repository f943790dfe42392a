/** A session and its links for the tests of `Choice`, in simulated time. */

import type { Transport, TransportName } from "../src/api.js";
import { Choice } from "../src/choice.js";
import type { Memory } from "../src/memory.js";
import type { LinkEvents } from "../src/transport/link.js";
import { NAMES } from "../src/transport/platform.js";

export const ALL_OPEN = Object.fromEntries(NAMES.map((name) => [name, "opens"]));

/** A session that has dialled. */
export function world(rules: World["rules"] = ALL_OPEN, ...rest: ConstructorParameters<typeof World>): World {
  const it = new World(...rest);
  it.rules = rules;
  it.choice.dial();
  return it;
}

/** A link that the test opens and breaks. */
export class Fake {
  isClosed = false;
  readonly sent: Uint8Array[] = [];

  constructor(
    readonly name: TransportName,
    readonly at: number,
    readonly events: LinkEvents,
    /** The host of the server that has the room, if the link leads there. */
    readonly owner: string | undefined,
  ) {}

  send(packet: Uint8Array): void {
    this.sent.push(packet);
  }
  sendDatagram(): void {}
  release(): void {}
  close(): void {
    this.isClosed = true;
  }

  /** The link breaks by itself. */
  break(reason = "broke"): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.events.closed(reason);
  }
}

export class FakeMemory implements Memory {
  readonly best = new Set<TransportName>();
  instead: TransportName | undefined;

  recall(best: TransportName): TransportName | undefined {
    return this.best.has(best) ? undefined : this.instead;
  }
  worked(name: TransportName, best: TransportName): void {
    if (name === best) this.best.add(best);
  }
  fellBack(name: TransportName, best: TransportName): void {
    if (!this.best.has(best)) this.instead = name;
  }
}

/** A session that dials again when it has no transport, as the core does. */
export class World {
  readonly links: Fake[] = [];
  readonly reported: (Transport | undefined)[] = [];
  readonly choice: Choice;
  /**
   * What each transport does when it is tried: it opens, or fails for a reason; without an entry it
   * never answers.
   */
  rules: Partial<Record<TransportName, "opens" | string>> = {};
  /** What every transport does that is opened to the server that has the room. */
  atOwner: "opens" | string | undefined = "opens";
  /** True if sessions join as soon as a transport is open. */
  joins = true;
  redials = true;
  opened = 0;
  closed = 0;
  /** The rounds that failed: whether all transports were tried, and the result of each. */
  readonly failed: (readonly [isFull: boolean, tried: string])[] = [];
  received: Uint8Array[] = [];

  constructor(names: readonly TransportName[] = NAMES, memory: Memory = new FakeMemory()) {
    this.choice = new Choice({
      names,
      memory,
      clock: {
        now: () => Date.now(),
        after: (ms, run) => {
          const timer = setTimeout(run, ms);
          return () => clearTimeout(timer);
        },
      },
      open: (name, events, owner) => {
        const link = new Fake(name, Date.now(), events, owner?.host);
        this.links.push(link);
        const rule = owner ? this.atOwner : this.rules[name];
        if (rule === "opens") setTimeout(() => link.isClosed || events.opened(0), 10);
        else if (rule) setTimeout(() => link.break(rule), 10);
        return link;
      },
      events: {
        opened: () => {
          this.opened += 1;
          if (this.joins) setTimeout(() => this.choice.joined(), 10);
        },
        received: (packet) => this.received.push(packet),
        receivedDatagram: () => {},
        sent: () => {},
        datagramSent: () => {},
        closed: () => {
          this.closed += 1;
          if (this.redials) setTimeout(() => this.choice.dial(), 250);
        },
        failed: (isFull, tried) => this.failed.push([isFull, tried]),
        changed: (transport) => this.reported.push(transport),
      },
    });
  }

  get name(): TransportName | undefined {
    return this.choice.transport?.name;
  }

  get why(): string | undefined {
    return this.choice.transport?.why;
  }

  /** The newest link of a transport. */
  link(name: TransportName): Fake {
    const link = this.links.findLast((link) => link.name === name);
    if (!link) throw new Error(`${name} was not tried`);
    return link;
  }

  tried(): TransportName[] {
    return this.links.map(({ name }) => name);
  }

  /** The transports of links that are neither closed nor in use. */
  loose(): TransportName[] {
    return this.links.filter((link) => !link.isClosed && link.name !== this.name).map(({ name }) => name);
  }
}
