/** The keys that are held, as a direction. */

import type { Point } from "./walker";

const DIRECTIONS: Readonly<Record<string, Point>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
  KeyA: [-1, 0],
  KeyD: [1, 0],
  KeyW: [0, -1],
  KeyS: [0, 1],
};

export class Keys {
  readonly #held = new Set<string>();

  /** Takes the `code` of a key that goes down or up. Returns false for keys that do not walk. */
  change(code: string, isDown: boolean): boolean {
    if (!(code in DIRECTIONS)) return false;
    if (isDown) this.#held.add(code);
    else this.#held.delete(code);
    return true;
  }

  /** No key is held any more: the window does not hear of keys that go up elsewhere. */
  release(): void {
    this.#held.clear();
  }

  get direction(): Point {
    const sum = { x: 0, y: 0 };
    for (const code of this.#held) {
      const [x, y] = DIRECTIONS[code] ?? [0, 0];
      sum.x += x;
      sum.y += y;
    }
    return [Math.sign(sum.x), Math.sign(sum.y)];
  }
}
