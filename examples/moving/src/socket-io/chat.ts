/** The part of the chat that a page shows: the same before and after. */
export interface Chat {
  /** The lines, as `NAME: TEXT`, in the same order for everybody. */
  readonly lines: readonly string[];
  /** The names of everybody who is here, this participant's included. */
  readonly people: readonly string[];
  /** The newest position of each other participant's pointer, by name. */
  readonly pointers: ReadonlyMap<string, readonly [x: number, y: number]>;
  say(text: string): void;
  point(x: number, y: number): void;
  leave(): void;
}
