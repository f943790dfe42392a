/**
 * Decides who sends a long update that several participants have, after the server has lost the
 * room or when a participant lacks what the room no longer has. Each of them makes a *claim*, and
 * the first in the room's order *leads*: it sends the update and says when that is done. The next
 * one then sends what is still missing. All see the same order, so no timer is needed.
 */

interface Claim {
  readonly sender: number;
  isOwn: boolean;
  /** The number of asks at the time when the claim became the first one. */
  asks?: number;
}

/** A request for updates that the room no longer has. */
interface Ask {
  readonly sender: number;
  readonly isOwn: boolean;
  readonly stateVector: Uint8Array;
  /** True once this program has sent what it has. */
  isAnswered: boolean;
}

/** The most questions that are remembered. */
const MAX_ASKS = 1000;

export class Claims {
  #claims: Claim[] = [];
  #asks: Ask[] = [];
  #hasLed = false;
  /** This program has made a claim that is not done. */
  isWaiting = false;

  /** True if this program is to send now. */
  get leads(): boolean {
    return this.#claims[0]?.isOwn === true && !this.#hasLed;
  }

  /** The state vectors of others whom this program has not answered. */
  get asked(): Uint8Array[] {
    return this.#asks.filter(({ isOwn, isAnswered }) => !isOwn && !isAnswered).map(({ stateVector }) => stateVector);
  }

  /** Called when this program has sent its update. */
  led(): void {
    this.#hasLed = true;
    for (const ask of this.#asks) ask.isAnswered = true;
  }

  claim(sender: number, isOwn: boolean): void {
    // A program claims again only when its claim has ended.
    if (!this.#claims.some((claim) => claim.sender === sender)) this.#claims.push({ sender, isOwn });
    this.#advance();
  }

  ask(sender: number, isOwn: boolean, stateVector: Uint8Array): void {
    if (this.#asks.length < MAX_ASKS) this.#asks.push({ sender, isOwn, stateVector, isAnswered: false });
  }

  /**
   * Ends the claim of a participant that has sent its update. If that `isComplete`, the earlier
   * asks are answered. Returns true if one of them is this program's.
   */
  done(sender: number, isComplete: boolean): boolean {
    const [first] = this.#claims;
    if (first?.sender !== sender) {
      this.#claims = this.#claims.filter((claim) => claim.sender !== sender);
      return false;
    }
    if (first.isOwn) this.#endOwn();
    this.#claims.shift();
    const answered = isComplete ? this.#asks.splice(0, first.asks) : [];
    this.#advance();
    return answered.some(({ isOwn }) => isOwn);
  }

  /**
   * Called when the room has forgotten a participant. Returns true if that ends a claim or an ask
   * of this program.
   */
  departed(sender: number): boolean {
    const isOwn = [...this.#claims, ...this.#asks].some((one) => one.isOwn && one.sender === sender);
    if (this.#claims.some((claim) => claim.isOwn && claim.sender === sender)) this.#endOwn();
    this.#claims = this.#claims.filter((claim) => claim.sender !== sender);
    this.#asks = this.#asks.filter((ask) => ask.sender !== sender);
    this.#advance();
    return isOwn;
  }

  /**
   * Called when the server has forgotten this participant: its claims now belong to an old
   * participant, which will leave.
   */
  disown(): void {
    for (const claim of this.#claims) claim.isOwn = false;
    this.#endOwn();
  }

  /** The room begins anew. */
  clear(): void {
    this.forget();
    this.#asks = [];
  }

  /** Forgets all claims after a gap in the history, which may contain claims and their ends. */
  forget(): void {
    this.#claims = [];
    this.#endOwn();
  }

  #endOwn(): void {
    this.isWaiting = false;
    this.#hasLed = false;
  }

  #advance(): void {
    const [first] = this.#claims;
    if (first) first.asks ??= this.#asks.length;
  }
}
