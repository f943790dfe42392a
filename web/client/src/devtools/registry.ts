/** The rooms that the devtools of this page show. */

import { AS_IT_IS, Network } from "./network.js";
import { eachOf, type AnyRoom, type OpenRoom } from "./rooms.js";
import { Watch, type Data } from "./watch.js";

interface Entry {
  readonly watch: Watch;
  /** How many calls of `devtools` want it. */
  users: number;
}

class Registry {
  /** One network for all rooms, as the page has one. */
  readonly network = new Network();
  readonly #entries = new Map<OpenRoom, Entry>();
  readonly #listeners = new Set<() => void>();

  get watches(): readonly Watch[] {
    return [...this.#entries.values()].map(({ watch }) => watch);
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Watches a room until the returned function is called. */
  add(room: AnyRoom, data: Data): () => void {
    return eachOf(room, (room) => {
      const known = this.#entries.get(room);
      const entry = known ?? { watch: new Watch(room, this.network, data), users: 0 };
      entry.users += 1;
      this.#entries.set(room, entry);
      if (!known) this.#changed();
      return () => this.#release(room, entry);
    });
  }

  #release(room: OpenRoom, entry: Entry): void {
    entry.users -= 1;
    if (entry.users > 0) return;
    this.#entries.delete(room);
    // Nobody could switch the network back any more.
    if (this.#entries.size === 0) this.network.conditions = AS_IT_IS;
    entry.watch.stop();
    this.#changed();
  }

  #changed(): void {
    // A copy: listeners are replaced while they are called.
    for (const listener of [...this.#listeners]) listener();
  }
}

export const REGISTRY = new Registry();
