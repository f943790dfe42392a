/**
 * Encrypts the payload of frames with a key that the server does not have (AES-GCM). The nonce is
 * the sender's random session of 8 bytes and its counter of frames of 4 bytes, so that no nonce is
 * used twice. The header and the sender's id are authenticated, too.
 */

import { headerOf, type Frame, type Header } from "./frame.js";

const SESSION = 8;
/** Bytes before the encrypted payload: the session, and the higher half of the counter. */
const BEFORE = SESSION + 2;

/** A frame that is older than the newest one of its session by more than this is refused. */
const WINDOW = 64;

export class Secret {
  readonly #key: Promise<CryptoKey>;
  readonly #session = crypto.getRandomValues(new Uint8Array(SESSION));
  /** The newest counter of each sender's session, against frames that are sent again later. */
  readonly #newest = new Map<number, { readonly session: string; counter: number }>();

  constructor(key: Uint8Array | CryptoKey) {
    this.#key =
      key instanceof Uint8Array
        ? crypto.subtle.importKey("raw", key.slice(), "AES-GCM", false, ["encrypt", "decrypt"])
        : Promise.resolve(key);
    // `seal` and `open` await the key, and get its error.
    this.#key.catch(() => {});
  }

  /** The payload of a frame, encrypted. `counter` is the frame's number, which never wraps. */
  async seal(header: Header, counter: number, sender: number, payload: Uint8Array): Promise<Uint8Array> {
    const nonce = new Uint8Array(SESSION + 4);
    nonce.set(this.#session);
    new DataView(nonce.buffer).setUint32(SESSION, counter);
    const algorithm = { name: "AES-GCM", iv: nonce, additionalData: bound(header, sender) };
    const sealed = await crypto.subtle.encrypt(algorithm, await this.#key, payload as BufferSource);
    const bytes = new Uint8Array(BEFORE + sealed.byteLength);
    bytes.set(nonce.subarray(0, BEFORE));
    bytes.set(new Uint8Array(sealed), BEFORE);
    return bytes;
  }

  /** The decrypted payload; undefined if it is forged, from another key, or repeated. */
  async open(frame: Frame, sender: number): Promise<Uint8Array | undefined> {
    const { payload, sequence } = frame;
    const nonce = new Uint8Array(SESSION + 4);
    nonce.set(payload.subarray(0, BEFORE));
    const view = new DataView(nonce.buffer);
    view.setUint16(BEFORE, sequence);
    const algorithm = { name: "AES-GCM", iv: nonce, additionalData: bound(frame, sender) };
    try {
      const opened = await crypto.subtle.decrypt(algorithm, await this.#key, payload.slice(BEFORE));
      const isNew = this.#note(sender, nonce.subarray(0, SESSION).join(), view.getUint32(SESSION));
      return isNew ? new Uint8Array(opened) : undefined;
    } catch {
      return undefined;
    }
  }

  /** Forgets a sender that has left. */
  forget(sender: number): void {
    this.#newest.delete(sender);
  }

  /** Notes an authentic frame. Returns false if it is an old one. */
  #note(sender: number, session: string, counter: number): boolean {
    const newest = this.#newest.get(sender);
    if (newest?.session !== session) {
      this.#newest.set(sender, { session, counter });
      return true;
    }
    if (counter + WINDOW < newest.counter) return false;
    newest.counter = Math.max(newest.counter, counter);
    return true;
  }
}

/** What is authenticated beside the payload. */
function bound(header: Header, sender: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(8);
  bytes.set(headerOf(header));
  new DataView(bytes.buffer).setUint32(4, sender);
  return bytes;
}
