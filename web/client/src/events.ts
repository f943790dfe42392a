import { check, unknownName } from "./arguments.js";

interface Entry {
  readonly run: (value: never) => void;
  /** The application's listener. */
  readonly of: unknown;
}

/**
 * Listeners by event name. An exception in a listener is reported as an uncaught error and does not
 * stop the others.
 */
export class Emitter<Events> {
  readonly #listeners = new Map<keyof Events, readonly Entry[]>();
  readonly #names: readonly string[] | undefined;

  /** `names`: the events that there are. Without it, listeners of any event are taken. */
  constructor(names?: Readonly<Record<keyof Events, unknown>>) {
    this.#names = names && Object.keys(names);
  }

  on<E extends keyof Events>(event: E, listener: (value: Events[E]) => void): () => void {
    this.#check(event, listener);
    return this.#add(event, { run: listener, of: listener });
  }

  /** Adds a listener for the next event only. */
  once<E extends keyof Events>(event: E, listener: (value: Events[E]) => void): () => void {
    this.#check(event, listener);
    const run = (value: Events[E]): void => {
      stop();
      listener(value);
    };
    const stop = this.#add(event, { run, of: listener });
    return stop;
  }

  /** Removes a listener, however often it was added. */
  off<E extends keyof Events>(event: E, listener: (value: Events[E]) => void): void {
    this.#check(event, listener);
    this.#keep(event, ({ of }) => of !== listener);
  }

  /** Returns true if the event had a listener. */
  emit<E extends keyof Events>(event: E, value: Events[E]): boolean {
    const entries = this.#of(event);
    for (const { run } of entries) guarded(() => (run as (value: Events[E]) => void)(value));
    return entries.length > 0;
  }

  #check(event: keyof Events, listener: unknown): void {
    if (this.#names && !this.#names.includes(event as string)) throw unknownName("an event", event, this.#names);
    check(listener, "function", this.#names ? `the listener for "${String(event)}"` : "the listener");
  }

  /** Each call of `on` is a subscription of its own, even with the same listener. */
  #add(event: keyof Events, entry: Entry): () => void {
    this.#listeners.set(event, [...this.#of(event), entry]);
    return () => this.#keep(event, (other) => other !== entry);
  }

  /**
   * The list is replaced and never changed, so that a listener that removes one does not disturb an
   * event that is being emitted.
   */
  #keep(event: keyof Events, isKept: (entry: Entry) => boolean): void {
    this.#listeners.set(event, this.#of(event).filter(isKept));
  }

  #of(event: keyof Events): readonly Entry[] {
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
