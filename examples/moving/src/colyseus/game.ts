/** The part of the game that a page shows: the same before and after. */
export interface Game {
  /** Each player's place and points, by name. */
  readonly players: Readonly<Record<string, { readonly x: number; readonly y: number; readonly coins: number }>>;
  readonly coin: { readonly x: number; readonly y: number };
  /** Asks for a step to a neighbouring field. */
  step(x: number, y: number): void;
  leave(): void;
}
