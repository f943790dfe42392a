/**
 * The specification of a puzzle. It fits into one message, and every window cuts the same pieces
 * from it.
 */

import { pick, seeded } from "../../../common/random";
import { isRecord } from "../../../common/parse";

export const PICTURES = ["hills", "reef", "town"] as const;
export type Picture = (typeof PICTURES)[number];

export interface Spec {
  readonly picture: Picture;
  /** Determines the cut, the initial places, and the details of the picture. */
  readonly seed: number;
  readonly columns: number;
  readonly rows: number;
}

/** The sizes that are offered: 12 pieces for a minute, 192 for an evening. */
export const SIZES: readonly (readonly [columns: number, rows: number])[] = [
  [4, 3],
  [6, 4],
  [8, 6],
  [12, 9],
  [16, 12],
];

/** The size of the picture in table units. Its top left corner is the origin. */
export const WIDTH = 1200;
export const HEIGHT = 900;

/** Limit of columns and rows in a specification of another participant. */
const SIDE_MAX = 24;

export function parseSpec(value: unknown): Spec | undefined {
  if (!isRecord(value)) return undefined;
  const { seed, columns, rows } = value;
  const picture = PICTURES.find((name) => name === value.picture);
  if (!picture || !isSeed(seed) || !isSide(columns) || !isSide(rows)) return undefined;
  return { picture, seed, columns, rows };
}

/** The first puzzle of a room, which follows from the room's name. */
export function firstSpec(room: string): Spec {
  const seed = hash(room);
  return { picture: pick(PICTURES, seeded(seed)), seed, columns: 6, rows: 4 };
}

export function isSameSpec(a: Spec, b: Spec): boolean {
  return a.picture === b.picture && a.seed === b.seed && a.columns === b.columns && a.rows === b.rows;
}

export function pieceCount({ columns, rows }: Spec): number {
  return columns * rows;
}

export function cellOf({ columns, rows }: Spec): { readonly w: number; readonly h: number } {
  return { w: WIDTH / columns, h: HEIGHT / rows };
}

/** The home of a piece: the top left corner of its cell in the picture. */
export function home(spec: Spec, piece: number): { readonly x: number; readonly y: number } {
  const { w, h } = cellOf(spec);
  return { x: (piece % spec.columns) * w, y: Math.floor(piece / spec.columns) * h };
}

export function neighbours({ columns, rows }: Spec, piece: number): number[] {
  const [column, row] = [piece % columns, Math.floor(piece / columns)];
  return [
    ...(row > 0 ? [piece - columns] : []),
    ...(column > 0 ? [piece - 1] : []),
    ...(column < columns - 1 ? [piece + 1] : []),
    ...(row < rows - 1 ? [piece + columns] : []),
  ];
}

/**
 * How near (in units) a piece must be dropped to its place beside another one. A finger is not more
 * precise.
 */
export function reach(spec: Spec): number {
  const { w, h } = cellOf(spec);
  return Math.min(Math.round(Math.min(w, h) * 0.2), 32);
}

function isSide(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 2 && Number(value) <= SIDE_MAX;
}

function isSeed(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) < 2 ** 32;
}

/** FNV-1a */
function hash(text: string): number {
  let h = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) h = Math.imul(h ^ byte, 0x01000193) >>> 0;
  return h;
}
