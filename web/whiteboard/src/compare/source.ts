/**
 * The true position of the pointer: under the user's hand, or on a figure that it draws by itself.
 */

/** The size of the board in its own units. */
export const WIDTH = 1000;
export const HEIGHT = 500;

export interface Position {
  readonly x: number;
  readonly y: number;
}

/** After this time (ms) without movement the hand has let go. */
const IDLE = 3000;

/** Duration (ms) of the glide from the hand's last position back to the figure. */
const GLIDE = 900;

/**
 * Periods (ms) of the figure's horizontal and vertical swing. Their ratio makes the figure repeat
 * only after more than a minute.
 */
const SWING_X = 3100;
const SWING_Y = 2300;

export class Source {
  private hand: (Position & { readonly time: number }) | undefined;

  /** The user moved the pointer. */
  move(x: number, y: number, now: number): void {
    this.hand = { x: clamp(x, WIDTH), y: clamp(y, HEIGHT), time: now };
  }

  isByHand(now: number): boolean {
    return this.hand !== undefined && now - this.hand.time < IDLE;
  }

  at(now: number): Position {
    const figure = {
      x: WIDTH / 2 + WIDTH * 0.38 * Math.sin((now / SWING_X) * 2 * Math.PI),
      y: HEIGHT / 2 + HEIGHT * 0.34 * Math.sin((now / SWING_Y) * 2 * Math.PI),
    };
    if (!this.hand) return figure;
    const left = Math.min(Math.max((now - this.hand.time - IDLE) / GLIDE, 0), 1);
    const part = left * left * (3 - 2 * left);
    return { x: mix(this.hand.x, figure.x, part), y: mix(this.hand.y, figure.y, part) };
  }
}

function mix(from: number, to: number, part: number): number {
  return from + (to - from) * part;
}

function clamp(value: number, most: number): number {
  return Math.min(Math.max(value, 0), most);
}
