/**
 * Who sends a long update that several participants have: after the server has lost the room, or when somebody lacks what the room no
 * longer has. Each of them makes a *claim*, and the first in the room's order *leads*: it sends the update and says when that is done.
 * The next one then sends what is still missing. All see the same order, so nobody has to wait for a timer.
 */

interface Claim {
  readonly sender: number;
  isOwn: boolean;
  /** The number of questions that were there when the claim became the first one. */
  asks?: number;
}

/** A question for what the room no longer has. */
interface Ask {
  readonly sender: number;
  readonly isOwn: boolean;
  readonly stateVector: Uint8Array;
  /** This program has sent what it has. */
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

  /** This program has sent what it had to send. */
  led(): void {
    this.#hasLed = true;
    for (const ask of this.#asks) ask.isAnswered = true;
  }

  claim(sender: number, isOwn: boolean): void {
    this.#claims.push({ sender, isOwn });
    this.#advance();
  }

  ask(sender: number, isOwn: boolean, stateVector: Uint8Array): void {
    if (this.#asks.length < MAX_ASKS) this.#asks.push({ sender, isOwn, stateVector, isAnswered: false });
  }

  /**
   * A participant has sent what it claimed: all that anybody may lack, if it `isComplete`. Returns true if that answers a question of
   * this program.
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

  /** The room has forgotten a participant. Returns true if a claim or a question of this program ends by that. */
  departed(sender: number): boolean {
    const isOwn = [...this.#claims, ...this.#asks].some((one) => one.isOwn && one.sender === sender);
    if (this.#claims.some((claim) => claim.isOwn && claim.sender === sender)) this.#endOwn();
    this.#claims = this.#claims.filter((claim) => claim.sender !== sender);
    this.#asks = this.#asks.filter((ask) => ask.sender !== sender);
    this.#advance();
    return isOwn;
  }

  /** The server has forgotten this participant: its claims belong to somebody who is going to leave. */
  disown(): void {
    for (const claim of this.#claims) claim.isOwn = false;
    this.#endOwn();
  }

  /** The room begins anew. */
  clear(): void {
    this.forget();
    this.#asks = [];
  }

  /** Claims, and what ended them, may be among what never came. */
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
