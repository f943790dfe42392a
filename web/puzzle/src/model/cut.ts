/** Cuts a picture: the outlines of all pieces, and their initial places. */

import { seeded } from "../../../common/random";
import { cellOf, HEIGHT, home, pieceCount, type Spec, WIDTH } from "./spec";

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A cubic Bézier curve from the end of the previous one. */
export interface Curve {
  readonly c1: Point;
  readonly c2: Point;
  readonly to: Point;
}

/** A closed line, clockwise, in units of the picture. */
export interface Outline {
  readonly from: Point;
  readonly curves: readonly Curve[];
}

/** Half the width of a tab's neck, as a share of its edge. */
const TAB = 0.1;

/** The variation of tabs, as a share of their edge. */
const JITTER = 0.04;

/** A tab extends by at most this share of the longer side of a cell. */
export const OVERHANG = 3 * TAB + JITTER + 0.02;

/**
 * Initial distance of cells, relative to the picture: large enough that even tabs hardly overlap.
 */
const SPREAD = 1.62;

/**
 * The outlines of all pieces, indexed by piece. Neighbours share the points of their common edge.
 */
export function cut(spec: Spec): Outline[] {
  const { columns, rows } = spec;
  const { w, h } = cellOf(spec);
  const random = seeded(spec.seed);
  const at = (column: number, row: number): Point => ({ x: column * w, y: row * h });
  // Edge (column, row) begins at that corner and goes right or down.
  const across = grid(columns, rows + 1, (column, row) =>
    edge(at(column, row), at(column + 1, row), row > 0 && row < rows ? random : undefined),
  );
  const down = grid(columns + 1, rows, (column, row) =>
    edge(at(column, row), at(column, row + 1), column > 0 && column < columns ? random : undefined),
  );
  return Array.from({ length: pieceCount(spec) }, (_, piece) => {
    const [column, row] = [piece % columns, Math.floor(piece / columns)];
    const from = at(column, row);
    const top = across(column, row);
    const right = down(column + 1, row);
    const bottom = backwards(at(column, row + 1), across(column, row + 1));
    const left = backwards(from, down(column, row));
    return { from, curves: [...top, ...right, ...bottom, ...left] };
  });
}

/**
 * The initial displacement of each piece from its home: spread over a larger area without overlaps.
 */
export function scatter(spec: Spec): Point[] {
  const { w, h } = cellOf(spec);
  // A different seed than for the cut, because both would follow the same pattern otherwise.
  const random = seeded(spec.seed ^ 0x9e3779b9);
  const slots = shuffled(pieceCount(spec), random);
  const [stepX, stepY] = [w * SPREAD, h * SPREAD];
  const [left, top] = [(WIDTH - spec.columns * stepX) / 2, (HEIGHT - spec.rows * stepY) / 2];
  return slots.map((slot, piece) => {
    const { x, y } = home(spec, piece);
    const slotX = left + ((slot % spec.columns) + 0.5) * stepX - w / 2;
    const slotY = top + (Math.floor(slot / spec.columns) + 0.5) * stepY - h / 2;
    // Slightly off the grid.
    const [dx, dy] = [(random() - 0.5) * 0.24 * w, (random() - 0.5) * 0.24 * h];
    return { x: Math.round(slotX + dx - x), y: Math.round(slotY + dy - y) };
  });
}

/**
 * The curves of one edge of a piece: a straight line at the border, otherwise three curves, the
 * middle of which is the tab's head. The proportions are those of classic die-cut puzzles.
 */
function edge(from: Point, to: Point, random: (() => number) | undefined): Curve[] {
  const length = Math.hypot(to.x - from.x, to.y - from.y);
  const [ux, uy] = [(to.x - from.x) / length, (to.y - from.y) / length];
  /** `along` and `out` are shares of the edge. */
  const place = (along: number, out: number): Point => ({
    x: from.x + (along * ux - out * uy) * length,
    y: from.y + (along * uy + out * ux) * length,
  });
  if (!random) return [{ c1: place(1 / 3, 0), c2: place(2 / 3, 0), to }];
  const side = random() < 0.5 ? 1 : -1;
  const vary = (): number => (random() * 2 - 1) * JITTER;
  const [a, b, c, d, e] = [vary(), vary(), vary(), vary(), vary()];
  return [
    { c1: place(0.2, side * a), c2: place(0.5 + b + d, side * (c - TAB)), to: place(0.5 - TAB + b, side * (TAB + c)) },
    {
      c1: place(0.5 - 2 * TAB + b - d, side * (3 * TAB + c)),
      c2: place(0.5 + 2 * TAB + b - d, side * (3 * TAB + c)),
      to: place(0.5 + TAB + b, side * (TAB + c)),
    },
    { c1: place(0.5 + b + d, side * (c - TAB)), c2: place(0.8, side * e), to },
  ];
}

/** The same line in the opposite direction. */
function backwards(start: Point, curves: readonly Curve[]): Curve[] {
  return curves.map(({ c1, c2 }, i) => ({ c1: c2, c2: c1, to: curves[i - 1]?.to ?? start })).reverse();
}

function grid<T>(columns: number, rows: number, make: (column: number, row: number) => T) {
  const items = Array.from({ length: columns * rows }, (_, i) => make(i % columns, Math.floor(i / columns)));
  return (column: number, row: number): T => {
    const item = items[row * columns + column];
    if (item === undefined) throw new RangeError("outside of the grid");
    return item;
  };
}

function shuffled(length: number, random: () => number): number[] {
  const list = Array.from({ length }, (_, i) => i);
  for (let i = length - 1; i > 0; i--) {
    const k = Math.floor(random() * (i + 1));
    [list[i], list[k]] = [list[k] ?? 0, list[i] ?? 0];
  }
  return list;
}
