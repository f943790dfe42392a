/**
 * Listeners by event name. An exception in a listener is reported as an uncaught error and does not stop the others.
 */
export class Emitter<Events> {
  readonly #listeners = new Map<keyof Events, readonly ((value: never) => void)[]>();

  on<E extends keyof Events>(event: E, listener: (value: Events[E]) => void): () => void {
    // The wrapper makes each call of `on` a subscription of its own, even with the same listener. The list is replaced
    // and never changed, so that adding or removing a listener does not disturb an event that is being emitted.
    const entry = (value: Events[E]): void => listener(value);
    this.#listeners.set(event, [...this.#of(event), entry]);
    return () =>
      void this.#listeners.set(
        event,
        this.#of(event).filter((other) => other !== entry),
      );
  }

  /** Returns true if the event had a listener. */
  emit<E extends keyof Events>(event: E, value: Events[E]): boolean {
    const listeners = this.#of(event) as readonly ((value: Events[E]) => void)[];
    for (const listener of listeners) guarded(() => listener(value));
    return listeners.length > 0;
  }

  #of(event: keyof Events): readonly ((value: never) => void)[] {
    return this.#listeners.get(event) ?? [];
  }
}

/** Runs code of the application and reports its exception as an uncaught error. */
export function guarded(run: () => void): void {
  try {
    run();
  } catch (error) {
    if (typeof reportError === "function") reportError(error);
    else console.error(error);
  }
}
