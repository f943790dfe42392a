/** The newest items of a stream; older ones are dropped. */
export class Ring<Item> {
  readonly #size: number;
  #items: Item[] = [];

  constructor(size: number) {
    this.#size = size;
  }

  get length(): number {
    return Math.min(this.#items.length, this.#size);
  }

  add(item: Item): void {
    this.#items.push(item);
    // Dropped in blocks, because each removal moves all items.
    if (this.#items.length >= 2 * this.#size) this.#items = this.#items.slice(-this.#size);
  }

  /** The newest item first. */
  newestFirst(): Item[] {
    return this.#items.slice(-this.#size).reverse();
  }

  clear(): void {
    this.#items = [];
  }
}
