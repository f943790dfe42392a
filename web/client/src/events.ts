/** Listeners by name. One that throws is reported as an uncaught error is, and harms nobody else. */
export class Emitter<Events> {
  readonly #listeners = new Map<keyof Events, readonly ((value: never) => void)[]>();

  on<E extends keyof Events>(event: E, listener: (value: Events[E]) => void): () => void {
    // Wrapped, so that a listener given twice is two subscriptions. The list is replaced, never changed: whoever
    // subscribes or leaves while an event is told does not disturb the telling.
    const entry = (value: Events[E]): void => listener(value);
    this.#listeners.set(event, [...this.#of(event), entry]);
    return () =>
      void this.#listeners.set(
        event,
        this.#of(event).filter((other) => other !== entry),
      );
  }

  /** Whether anybody listened. */
  emit<E extends keyof Events>(event: E, value: Events[E]): boolean {
    const listeners = this.#of(event) as readonly ((value: Events[E]) => void)[];
    for (const listener of listeners) guarded(() => listener(value));
    return listeners.length > 0;
  }

  #of(event: keyof Events): readonly ((value: never) => void)[] {
    return this.#listeners.get(event) ?? [];
  }
}

/** Runs the application's code; what it throws is its own matter, but must be seen. */
export function guarded(run: () => void): void {
  try {
    run();
  } catch (error) {
    if (typeof reportError === "function") reportError(error);
    else console.error(error);
  }
}
