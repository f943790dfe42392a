/**
 * Replaces the timers and clocks of the program by simulated time, for applications that have
 * timers of their own.
 */

import type { SimulatedClock } from "./clock.js";

/** The fixed start of `Date`, so that runs repeat. */
const BEGIN = Date.UTC(2026, 0, 1);

type Timer = number | { readonly id: number };

/**
 * Starts. `entered` is told before a timer runs. Returns a function that puts the program's own
 * timers back.
 */
export function replaceTimers(clock: SimulatedClock, entered: () => void): () => void {
  const cancels = new Map<number, () => void>();
  let made = 0;

  function start(run: (...all: unknown[]) => void, ms: number, repeats: boolean, all: unknown[]): object {
    const id = (made += 1);
    // A timer of 0 ms that restarts itself would stop simulated time.
    const wait = Math.max(1, Number(ms) || 0);
    const schedule = (): void => {
      const cancel = clock.after(wait, () => {
        entered();
        if (repeats) schedule();
        else cancels.delete(id);
        run(...all);
      });
      cancels.set(id, cancel);
    };
    schedule();
    // The timer is an object, as in Node, that converts to a number, as in browsers.
    const timer = { id, ref: () => timer, unref: () => timer, hasRef: () => true, [Symbol.toPrimitive]: () => id };
    return timer;
  }

  function stop(timer: Timer | undefined | null): void {
    if (timer === undefined || timer === null) return;
    const id = typeof timer === "object" ? timer.id : Number(timer);
    cancels.get(id)?.();
    cancels.delete(id);
  }

  const RealDate = Date;
  const date = (): number => BEGIN + clock.now();
  class SimulatedDate extends RealDate {
    constructor(...all: unknown[]) {
      if (all.length === 0) super(date());
      else super(...(all as [number]));
    }

    static override now(): number {
      return date();
    }
  }

  const replaced = {
    setTimeout: (run: () => void, ms = 0, ...all: unknown[]) => start(run, ms, false, all),
    setInterval: (run: () => void, ms = 0, ...all: unknown[]) => start(run, ms, true, all),
    clearTimeout: stop,
    clearInterval: stop,
    Date: SimulatedDate,
  };
  const before = Object.keys(replaced).map(
    (name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const,
  );
  for (const [name, value] of Object.entries(replaced)) {
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  }
  const ownNow = Object.getOwnPropertyDescriptor(performance, "now");
  Object.defineProperty(performance, "now", { value: () => clock.now(), configurable: true, writable: true });

  return () => {
    for (const [name, own] of before) if (own) Object.defineProperty(globalThis, name, own);
    if (ownNow) Object.defineProperty(performance, "now", ownNow);
    else delete (performance as { now?: unknown }).now;
  };
}
