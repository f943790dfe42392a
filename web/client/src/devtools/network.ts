/**
 * A bad network between this page and its server, for all rooms that the devtools watch. The model
 * is that of `groupwire/testing`: a lost datagram does not arrive, and what a stream loses arrives
 * late, because it is sent again.
 */

import type { Problem, Transport } from "../api.js";
import type { Driver } from "../driver.js";
import { Path } from "../testing/path.js";
import type { Link, LinkEvents } from "../transport/link.js";
import { WorseLink, type Worse } from "./worse-link.js";
import { wrap } from "./wrap.js";

export interface Conditions {
  /** The share of packets that is lost in each direction, 0 to 1. */
  readonly loss: number;
  /** Milliseconds that each packet takes longer in each direction. */
  readonly delay: number;
  readonly isOffline: boolean;
}

/** The network as it is. */
export const AS_IT_IS: Conditions = { loss: 0, delay: 0, isOffline: false };

const OFFLINE: Problem = {
  code: "offline",
  message: "The devtools of this page have switched its network off.",
};

export class Network implements Worse {
  #conditions = AS_IT_IS;
  readonly #rooms = new Map<Driver, Links>();
  readonly #listeners = new Set<() => void>();
  readonly path = new Path(
    {
      now: () => performance.now(),
      at: (time, run) => {
        const timer = setTimeout(run, time - performance.now());
        return () => clearTimeout(timer);
      },
    },
    { fraction: () => Math.random(), chance: (probability) => Math.random() < probability },
    { delay: 0 },
  );

  get conditions(): Conditions {
    return this.#conditions;
  }

  set conditions(conditions: Conditions) {
    const { loss, delay, isOffline } = conditions;
    const before = this.#conditions;
    this.#conditions = conditions;
    this.path.change({ loss, delay });
    if (isOffline && !before.isOffline) this.#all((link) => link.breaks());
    // The client waits no longer than after the browser's own event.
    if (!isOffline && before.isOffline) globalThis.dispatchEvent?.(new Event("online"));
    for (const listener of [...this.#listeners]) listener();
  }

  get isOffline(): boolean {
    return this.#conditions.isOffline;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Opens the links of a room from now on over this network. Returns a function that ends it. */
  add(driver: Driver): () => void {
    const [, links] = driver.inside;
    const open = new Set<WorseLink>();
    this.#rooms.set(driver, { open, renewed: undefined });
    const stops = [
      wrap(links, "open", (openLink) => (name, events, owner): Link => {
        const link = new WorseLink(
          this,
          events,
          (inner: LinkEvents) => openLink(name, inner, owner),
          () => {
            open.delete(link);
          },
        );
        open.add(link);
        return link;
      }),
      wrap(links, "diagnose", (diagnose) => async (tried, before) => {
        return this.isOffline ? OFFLINE : diagnose(tried, before);
      }),
    ];
    return () => {
      this.#rooms.delete(driver);
      for (const stop of stops) stop();
      // Packets that are under way arrive.
      for (const link of open) link.passes();
    };
  }

  /**
   * Moves rooms whose link was opened before to another one of the same kind, as the client does by
   * itself when it can do more on the next link: only new links can be made worse. Tries it once
   * for each transport.
   */
  prepare(): void {
    for (const [driver, links] of this.#rooms) {
      const [choice] = driver.inside;
      const { transport } = choice;
      if (!transport || links.open.size > 0 || links.renewed === transport) continue;
      links.renewed = transport;
      choice.renew();
    }
  }

  #all(act: (link: WorseLink) => void): void {
    for (const { open } of this.#rooms.values()) for (const link of [...open]) act(link);
  }
}

/** The links of a room. */
interface Links {
  readonly open: Set<WorseLink>;
  /** The transport in use that was to be replaced by another link of its kind. */
  renewed: Transport | undefined;
}
