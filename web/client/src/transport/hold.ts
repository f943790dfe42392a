/** How many tabs hold a response of a server (T20): HTTP/1.1 allows a browser six connections to it for all of them. */

/** The rest is for uploads, renewals and the page itself. */
const MAX_HOLDING = 4;

/** One session's share: its links, of which two may be open for a moment, count once. */
export class Hold {
  readonly #server: string;
  #holders = 0;
  #lock: Promise<(() => void) | undefined> | undefined;

  constructor(server: string) {
    this.#server = server;
  }

  /** Answers with what gives it back; undefined: other tabs have them all. */
  async take(): Promise<(() => void) | undefined> {
    this.#holders += 1;
    this.#lock ??= lockOne(this.#server);
    const release = await this.#lock.catch(() => () => {});
    let isHeld = true;
    const giveBack = (): void => {
      if (!isHeld) return;
      isHeld = false;
      this.#holders -= 1;
      if (this.#holders > 0) return;
      release?.();
      this.#lock = undefined;
    };
    if (release) return giveBack;
    giveBack();
    return undefined;
  }
}

/** Where a page has no Web Locks, or may not have any, nobody counts. */
async function lockOne(server: string): Promise<(() => void) | undefined> {
  const locks = (globalThis as { navigator?: { locks?: LockManager } }).navigator?.locks;
  if (!locks) return () => {};
  for (let place = 1; place <= MAX_HOLDING; place += 1) {
    const release = await lock(locks, `groupwire ${server} ${place}`);
    if (release) return release;
  }
  return undefined;
}

function lock(locks: LockManager, name: string): Promise<(() => void) | undefined> {
  return new Promise((resolve, reject) => {
    // Held until this promise is kept.
    const held = (lock: Lock | null): Promise<void> =>
      new Promise((release) => (lock ? resolve(release) : (release(), resolve(undefined))));
    locks.request(name, { ifAvailable: true }, held).catch(reject);
  });
}
