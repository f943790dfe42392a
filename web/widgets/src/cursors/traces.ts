/** Traces: where pointers have just been. */

import type { TraceView } from "groupwire/motion";
import type { Stage } from "../core/stage.js";

/** The width of a trace at the pointer, in pixels. */
const WIDTH = 5;

export function drawTraces(
  canvas: HTMLCanvasElement,
  traces: readonly TraceView[],
  stage: Stage,
  colorOf: (id: number) => string,
): void {
  const context = canvas.getContext("2d");
  if (!context) return;
  const [width, height] = [innerWidth * devicePixelRatio, innerHeight * devicePixelRatio].map(Math.round) as [
    number,
    number,
  ];
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
  context.clearRect(0, 0, innerWidth, innerHeight);
  context.lineCap = "round";
  for (const { sender, points } of traces) {
    context.strokeStyle = colorOf(sender);
    const shown = points.map(({ place, age }) => ({ ...stage.toWindow(place), age }));
    shown.slice(1).forEach(({ x, y, age }, at) => {
      const from = shown[at];
      if (!from) return;
      context.globalAlpha = (1 - age) * 0.6;
      context.lineWidth = 1 + (WIDTH - 1) * (1 - age);
      context.beginPath();
      context.moveTo(from.x, from.y);
      context.lineTo(x, y);
      context.stroke();
    });
  }
  context.globalAlpha = 1;
}
