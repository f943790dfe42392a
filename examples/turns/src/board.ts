/**
 * The board of Connect Four: discs fall to the lowest free place of a column, and four in a row
 * win.
 */

export const COLUMNS = 7;
export const ROWS = 6;

/** Side 0 is red, side 1 is yellow. */
export type Side = 0 | 1;

/** The discs of a game, by column and then by row from below. */
export type Board = readonly (readonly Side[])[];

/** The column and the row of a disc. */
export interface Square {
  readonly column: number;
  readonly row: number;
}

const DIRECTIONS = [
  [1, 0],
  [0, 1],
  [1, 1],
  [1, -1],
] as const;

export function other(side: Side): Side {
  return side === 0 ? 1 : 0;
}

/** The board after these moves, each of which is a column. */
export function boardOf(moves: readonly number[], first: Side): Board {
  const columns = Array.from({ length: COLUMNS }, (): Side[] => []);
  moves.forEach((column, at) => columns[column]?.push(at % 2 === 0 ? first : other(first)));
  return columns;
}

/**
 * The places of four or more discs in a row that the last move has completed; empty if it has not.
 */
export function lineOf(moves: readonly number[], first: Side): readonly Square[] {
  const board = boardOf(moves, first);
  const column = moves.at(-1);
  if (column === undefined) return [];
  const last = { column, row: (board[column]?.length ?? 0) - 1 };
  return DIRECTIONS.flatMap(([x, y]) => {
    const line = [...run(board, last, -x, -y).reverse(), last, ...run(board, last, x, y)];
    return line.length >= 4 ? line : [];
  });
}

/** The discs of the same side beside a place, in one direction. */
function run(board: Board, from: Square, x: number, y: number): Square[] {
  const side = board[from.column]?.[from.row];
  const places: Square[] = [];
  for (let { column, row } = from; ;) {
    column += x;
    row += y;
    if (board[column]?.[row] !== side) return places;
    places.push({ column, row });
  }
}
