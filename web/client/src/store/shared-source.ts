/** The shared data of a room, as selectors read them. */

import { Emitter } from "../events.js";
import { ANYTHING, tracked, viewsOf, type Change } from "./reads.js";
import type { Source } from "./selection.js";
import type { SharedControls } from "../shared/shared.js";

export class SharedSource<Shared> implements Source<Shared> {
  readonly #makeFirst: () => Shared;
  readonly #events = new Emitter<{ change: Change | undefined }>();
  #first: Shared | undefined;
  #tracked: Shared | undefined;
  #version = 0;
  #stop: readonly (() => void)[] = [];

  /** `makeFirst` makes the data of a room without a connection. */
  constructor(makeFirst: () => Shared) {
    this.#makeFirst = makeFirst;
  }

  readonly root = (): Shared => this.#tracked ?? this.firstRoot();
  readonly firstRoot = (): Shared => (this.#first ??= this.#makeFirst());
  readonly version = (): number => this.#version;
  readonly subscribe = (listener: (change?: Change) => void): (() => void) => this.#events.on("change", listener);

  /** Takes the data of another connection. */
  use(shared: Shared): void {
    for (const stop of this.#stop) stop();
    // The room has no shared data.
    if (typeof shared !== "object" || shared === null) return;
    this.#tracked = tracked(shared);
    const none: ReadonlySet<string> = new Set();
    const { subscribe } = shared as unknown as Pick<SharedControls, "subscribe">;
    this.#stop = [
      ...viewsOf(shared).map(([name, view]) => view.subscribe((keys) => this.#change({ name, keys }))),
      subscribe(() => this.#change({ name: ANYTHING, keys: none })),
    ];
    this.changeAll();
  }

  /** Makes all selectors run again. */
  changeAll(): void {
    this.#change(undefined);
  }

  #change(change: Change | undefined): void {
    this.#version += 1;
    this.#events.emit("change", change);
  }
}
