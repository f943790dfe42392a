/**
 * Limits how many tabs keep a response of one server open (T20): with HTTP/1.1 a browser opens six
 * connections per server.
 */

/** The remaining two connections are for uploads, renewals and the page itself. */
const MAX_HOLDING = 4;

/** The share of one session. Its links count once, although two may be open for a moment. */
export class Hold {
  readonly #server: string;
  #holders = 0;
  #lock: Promise<(() => void) | undefined> | undefined;

  constructor(server: string) {
    this.#server = server;
  }

  /** Returns the function that gives the place back, or undefined if other tabs hold all places. */
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

/** Takes one of the places by a Web Lock. Without Web Locks the limit does not apply. */
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
    // The lock is held until this promise is fulfilled.
    const held = (lock: Lock | null): Promise<void> =>
      new Promise((release) => (lock ? resolve(release) : (release(), resolve(undefined))));
    locks.request(name, { ifAvailable: true }, held).catch(reject);
  });
}
