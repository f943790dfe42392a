/**
 * The objects of a board. A shape is never modified: a change creates a new one, so that the undo
 * history and caches that are keyed by the old one stay valid.
 */

import type { StandardSchema } from "groupwire/shared";
import { isCoordinate, isRecord } from "../../../common/parse";

/** Colours are names, because ink is dark on a light board and light on a dark one. */
export const COLORS = ["ink", "red", "orange", "green", "teal", "blue", "violet", "pink"] as const;
export type Color = (typeof COLORS)[number];

/** Line widths in board units. `TEXT_SIZES` has the text size of each. */
export const WIDTHS = [2, 4, 8] as const;
export const TEXT_SIZES: Readonly<Record<number, number>> = { 2: 18, 4: 28, 8: 48 };

interface Common {
  /** The top left corner, in board units. */
  readonly x: number;
  readonly y: number;
  readonly color: Color;
  /**
   * The stacking position: higher is nearer to the viewer. The creator chooses it; the id decides
   * between equals.
   */
  readonly z: number;
}

export interface Box extends Common {
  readonly kind: "rectangle" | "ellipse";
  readonly w: number;
  readonly h: number;
  readonly width: number;
  readonly fill: boolean;
}

export interface Stroke extends Common {
  readonly kind: "stroke";
  readonly w: number;
  readonly h: number;
  readonly width: number;
  /** Alternating x and y, relative to the corner, at natural size; `w` and `h` scale them. */
  readonly points: readonly number[];
}

export interface Text extends Common {
  readonly kind: "text";
  readonly size: number;
  readonly text: string;
}

export type Shape = Box | Stroke | Text;

/** The fields that a change may set. A field that the kind of shape lacks is ignored. */
export interface Patch {
  readonly x?: number;
  readonly y?: number;
  readonly w?: number;
  readonly h?: number;
  readonly z?: number;
  readonly color?: Color;
  readonly width?: number;
  readonly fill?: boolean;
  readonly size?: number;
  readonly text?: string;
}

type Field = keyof Patch;
const FIELDS: Readonly<Record<Shape["kind"], readonly Field[]>> = {
  rectangle: ["x", "y", "w", "h", "z", "color", "width", "fill"],
  ellipse: ["x", "y", "w", "h", "z", "color", "width", "fill"],
  stroke: ["x", "y", "w", "h", "z", "color", "width"],
  text: ["x", "y", "z", "color", "size", "text"],
};

/** The shape with the patch's fields; the same object if nothing differs. */
export function patched(shape: Shape, patch: Patch): Shape {
  const fields = overwriting(shape, patch);
  return fields ? { ...shape, ...fields } : shape;
}

/** The fields of `patch` that change a shape; undefined if there are none. */
export function overwriting(shape: Shape | undefined, patch: Patch): Patch | undefined {
  if (!shape) return undefined;
  const current: Patch = shape;
  const fields = FIELDS[shape.kind].filter((field) => patch[field] !== undefined && patch[field] !== current[field]);
  return fields.length > 0 ? pick(patch, fields) : undefined;
}

function pick(from: Patch, fields: readonly Field[]): Patch {
  return Object.fromEntries(fields.map((field) => [field, from[field]]));
}

/** Rounds to the precision that is visible, so that messages have no needless digits. */
export function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** The shapes of other participants, as a schema for shared data. */
export const SHAPE: StandardSchema<Shape> = {
  "~standard": {
    version: 1,
    vendor: "groupwire-whiteboard",
    validate: (value) => {
      const shape = parseShape(value);
      return shape ? { value: shape } : { issues: [{ message: "it is no shape" }] };
    },
  },
};

/** Parses a shape of another participant; undefined if it is invalid. */
export function parseShape(value: unknown): Shape | undefined {
  if (!isRecord(value)) return undefined;
  const { kind, x, y, color, z } = value;
  if (!isCoordinate(x) || !isCoordinate(y) || !isColor(color) || !isCoordinate(z)) return undefined;
  const common = { x, y, color, z };
  if (kind === "text") {
    const { size, text } = value;
    return isSize(size) && isText(text) ? { kind, ...common, size, text } : undefined;
  }
  const { w, h, width } = value;
  if (!isExtent(w) || !isExtent(h) || !isSize(width)) return undefined;
  if (kind === "stroke") {
    const { points } = value;
    return isPoints(points) ? { kind, ...common, w, h, width, points } : undefined;
  }
  if (kind === "rectangle" || kind === "ellipse") {
    return { kind, ...common, w, h, width, fill: value.fill === true };
  }
  return undefined;
}

/** Parses a patch of another participant; invalid fields are left out. */
export function parsePatch(value: Readonly<Record<string, unknown>>): Patch {
  const { x, y, w, h, z, color, width, fill, size, text } = value;
  return {
    ...(isCoordinate(x) && { x }),
    ...(isCoordinate(y) && { y }),
    ...(isExtent(w) && { w }),
    ...(isExtent(h) && { h }),
    ...(isCoordinate(z) && { z }),
    ...(isColor(color) && { color }),
    ...(isSize(width) && { width }),
    ...(typeof fill === "boolean" && { fill }),
    ...(isSize(size) && { size }),
    ...(isText(text) && { text }),
  };
}

export function isColor(value: unknown): value is Color {
  return COLORS.some((color) => color === value);
}

export function isSize(value: unknown): value is number {
  return typeof value === "number" && value > 0 && value <= 2000;
}

function isExtent(value: unknown): value is number {
  return isCoordinate(value) && value >= 0;
}

/** Limit of a text: one page, because all participants have to hold it. */
export const TEXT_LIMIT = 5000;

function isText(value: unknown): value is string {
  return typeof value === "string" && value.length <= TEXT_LIMIT;
}

/** Limit of numbers in a stroke: the pen starts a new stroke long before (`tools/pen.ts`). */
const POINTS_LIMIT = 20_000;

export function isPoints(value: unknown): value is number[] {
  return Array.isArray(value) && value.length <= POINTS_LIMIT && value.length % 2 === 0 && value.every(isCoordinate);
}
