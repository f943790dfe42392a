/**
 * Records what a selector reads of shared data, so that a change of one shape runs only the
 * selectors that have read it. With a thousand shapes and fifty people who drag, each selector
 * would otherwise run a thousand times a second.
 */

/** The selector that is running. */
let running: Reads | undefined;

/** The parts of the shared data that a selector read when it ran last. */
export class Reads {
  /** The keys that were read, by the names of data; undefined: everything of that name. */
  readonly #names = new Map<string, Set<string> | undefined>();

  /** Runs a selector, and remembers what it reads. */
  record<Value>(select: () => Value): Value {
    const outer = running;
    running = this;
    this.#names.clear();
    try {
      return select();
    } finally {
      running = outer;
    }
  }

  /** True if a change of these keys concerns the selector. */
  concern({ name, keys }: Change): boolean {
    if (!this.#names.has(name)) return false;
    const own = this.#names.get(name);
    if (!own) return true;
    for (const key of keys) if (own.has(key)) return true;
    return false;
  }

  note(name: string, key?: string): void {
    if (key === undefined) this.#names.set(name, undefined);
    else if (!this.#names.has(name)) this.#names.set(name, new Set([key]));
    else this.#names.get(name)?.add(key);
  }
}

/**
 * A change of shared data. The name {@link ANYTHING} stands for what has no name, such as
 * `canUndo`.
 */
export interface Change {
  readonly name: string;
  readonly keys: ReadonlySet<string>;
}

/** No shared data has this name. */
export const ANYTHING = "";

/** The interface that all kinds of shared data have in common. */
export interface View {
  readonly value: unknown;
  readonly subscribe: (listener: (keys: ReadonlySet<string>) => void) => () => void;
}

/** The data of a room by their names. */
export function viewsOf(shared: object): [name: string, view: View][] {
  return Object.entries(shared).filter(([, view]) => isView(view)) as [string, View][];
}

/** Shared data whose reads are noted for the selector that is running. */
export function tracked<Shared extends object>(shared: Shared): Shared {
  const views = new Map<string | symbol, unknown>(
    viewsOf(shared).map(([name, view]) => [name, trackedView(name, view)]),
  );
  return new Proxy(shared, {
    get(target, name) {
      if (views.has(name)) return views.get(name);
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value === "function") return value.bind(target) as unknown;
      running?.note(ANYTHING);
      return value;
    },
  });
}

/** The methods that read the value of one key. */
const KEYED = ["get", "previewed"];

function trackedView(name: string, view: View): unknown {
  const methods = new Map<string | symbol, unknown>();
  return new Proxy(view, {
    get(target, property) {
      const known = methods.get(property);
      if (known) return known;
      const value: unknown = Reflect.get(target, property, target);
      if (typeof value !== "function") {
        running?.note(name);
        return value;
      }
      const isKeyed = KEYED.includes(property as string);
      const method = (...all: unknown[]): unknown => {
        if (isKeyed) running?.note(name, all[0] as string);
        return value.apply(target, all) as unknown;
      };
      methods.set(property, method);
      return method;
    },
  });
}

function isView(value: unknown): boolean {
  return typeof value === "object" && value !== null && "value" in value && "subscribe" in value;
}
