/** The pictures. They are painted from a seed, so that none has to be sent. */

import { HEIGHT, type Picture, type Spec, WIDTH } from "../model/spec";
import type { Paint } from "./brush";
import { paintHills } from "./hills";
import { paintReef } from "./reef";
import { paintTown } from "./town";

export const PICTURE_LABELS: Readonly<Record<Picture, string>> = {
  hills: "Valley",
  reef: "Reef",
  town: "Harbour",
};

const PAINTERS: Readonly<Record<Picture, (ctx: Paint, seed: number) => void>> = {
  hills: paintHills,
  reef: paintReef,
  town: paintTown,
};

/** Paints a picture, `width` pixels wide. */
export function paintPicture({ picture, seed }: Pick<Spec, "picture" | "seed">, width: number): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(width);
  canvas.height = Math.round((width * HEIGHT) / WIDTH);
  const ctx = canvas.getContext("2d");
  if (!ctx) throw new Error("this browser gives no canvas");
  ctx.scale(canvas.width / WIDTH, canvas.height / HEIGHT);
  PAINTERS[picture](ctx, seed);
  return canvas;
}
