/** How one walks: by keys in a direction, or to a place. It reads no clock. */

export type Point = readonly [x: number, y: number];

export const WORLD = { width: 1200, height: 800 };

/** Units per second. */
export const SPEED = 200;

/** The smallest distance between a person and the edge of the world. */
const EDGE = 24;

export class Walker {
  place: Point;
  #direction: Point = [0, 0];
  #target: Point | undefined;

  constructor(place: Point) {
    this.place = inside(place);
  }

  /** Walks in a direction, of which only the signs count, until told otherwise; [0, 0] stops. */
  steer(direction: Point): void {
    this.#direction = direction;
    this.#target = undefined;
  }

  /** Walks to a place, and stops there. */
  walkTo(target: Point): void {
    this.#direction = [0, 0];
    this.#target = inside(target);
  }

  get isWalking(): boolean {
    return this.#target !== undefined || this.#direction.some((sign) => sign !== 0);
  }

  /** Goes on by `ms` milliseconds. */
  step(ms: number): Point {
    const reach = (SPEED * Math.max(ms, 0)) / 1000;
    const [x, y] = this.place;
    if (this.#target) {
      const left = apart(this.place, this.#target);
      const share = left > reach ? reach / left : 1;
      if (share === 1) this.place = this.#target;
      else this.place = [x + (this.#target[0] - x) * share, y + (this.#target[1] - y) * share];
      if (share === 1) this.#target = undefined;
    } else {
      const [dx, dy] = this.#direction.map(Math.sign) as [number, number];
      // The division by the length keeps the speed the same on diagonals.
      const length = Math.hypot(dx, dy) || 1;
      this.place = inside([x + (dx / length) * reach, y + (dy / length) * reach]);
    }
    return this.place;
  }
}

/** The distance of two points. */
export function apart([ax, ay]: Point, [bx, by]: Point): number {
  return Math.hypot(bx - ax, by - ay);
}

/** The nearest place in the world. */
function inside([x, y]: Point): Point {
  const within = (value: number, size: number): number => Math.min(Math.max(value, EDGE), size - EDGE);
  return [within(x, WORLD.width), within(y, WORLD.height)];
}
