// Simulated time for libraries that read the page's clock themselves.

export class VirtualClock {
  #now = 0;
  #frames = new Map();
  #timers = new Map();
  #next = 1;

  /** Runs a function with this clock as the page's. */
  run(work) {
    const replaced = {
      performance: { now: () => this.#now },
      requestAnimationFrame: (callback) => this.#add(this.#frames, callback),
      cancelAnimationFrame: (id) => this.#frames.delete(id),
      setTimeout: (callback, ms = 0) => this.#add(this.#timers, { callback, at: this.#now + ms }),
      clearTimeout: (id) => this.#timers.delete(id),
    };
    const before = Object.keys(replaced).map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)]);
    for (const [name, value] of Object.entries(replaced))
      Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
    try {
      return work();
    } finally {
      for (const [name, descriptor] of before)
        if (descriptor) Object.defineProperty(globalThis, name, descriptor);
        else delete globalThis[name];
    }
  }

  /** Goes on to a time, and runs the timers that are due until then. */
  advance(to) {
    for (;;) {
      const due = [...this.#timers].filter(([, { at }]) => at <= to).sort(([, one], [, other]) => one.at - other.at)[0];
      if (!due) break;
      const [id, { callback, at }] = due;
      this.#timers.delete(id);
      this.#now = Math.max(this.#now, at);
      callback();
    }
    this.#now = Math.max(this.#now, to);
  }

  /** Runs the callbacks of an animation frame. */
  frame() {
    const callbacks = [...this.#frames.values()];
    this.#frames.clear();
    for (const callback of callbacks) callback(this.#now);
  }

  #add(to, value) {
    to.set(this.#next, value);
    return this.#next++;
  }
}
