/**
 * Turns pointer events into actions: a tool at work, or a movement of the view (wheel, pinch, two
 * fingers, middle button, space held down).
 */

import type { Camera, Point } from "./camera";

export interface Tool {
  readonly cursor: string;
  /** The pointer was pressed. Here and below, points are board coordinates. */
  down(point: Point, press: Press): void;
  /**
   * The points of the pointer since the last call, in order. There are several if the browser
   * coalesced events.
   */
  move(points: readonly Point[], press: Press): void;
  up(): void;
  /** The user pressed Escape or put down a second finger: undo the unfinished action. */
  cancel(): void;
  /** The pointer moves without a pressed button. */
  hover?(point: Point): void;
  double?(point: Point): void;
}

export interface Press {
  readonly shift: boolean;
  readonly touch: boolean;
}

export interface GestureHost {
  readonly camera: Camera;
  readonly tool: Tool;
  /** The position of the pointer on the stage; undefined when it left. */
  pointed?(at: Point | undefined): void;
  setCursor(cursor: string): void;
}

/**
 * One notch of a mouse wheel with Ctrl zooms by about a tenth; the pinch of a trackpad sends many
 * smaller ones.
 */
const WHEEL_ZOOM = 0.01;
const NOTCH = 12;

/**
 * Two presses within this time (ms) and distance (px) are a double press; pens do not trigger
 * `dblclick`.
 */
const DOUBLE_TIME = 350;
const DOUBLE_DISTANCE = 12;

type Mode = "none" | "tool" | "pan" | "pinch";

export class Gestures {
  private readonly down = new Map<number, Point>();
  private mode: Mode = "none";
  private isSpaceHeld = false;
  private lastPress = { time: 0, x: 0, y: 0 };

  constructor(
    private readonly stage: HTMLElement,
    private readonly host: GestureHost,
  ) {
    stage.addEventListener("pointerdown", (event) => this.press(event));
    stage.addEventListener("pointermove", (event) => this.move(event));
    stage.addEventListener("pointerup", (event) => this.release(event, false));
    stage.addEventListener("pointercancel", (event) => this.release(event, true));
    stage.addEventListener("pointerleave", () => host.pointed?.(undefined));
    stage.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    stage.addEventListener("contextmenu", (event) => event.preventDefault());
  }

  /** A drag while space is held moves the view. */
  holdSpace(isHeld: boolean): void {
    this.isSpaceHeld = isHeld;
    this.host.setCursor(isHeld ? "grab" : this.host.tool.cursor);
  }

  /** Cancels what the tool is doing. */
  cancel(): void {
    if (this.mode === "tool") this.host.tool.cancel();
    this.mode = "none";
  }

  get isWorking(): boolean {
    return this.mode === "tool";
  }

  private press(event: PointerEvent): void {
    // Keeps the focus where it is: the text editor closes by itself, and no text of the page is
    // selected.
    event.preventDefault();
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    this.stage.setPointerCapture(event.pointerId);
    const at = this.local(event);
    this.down.set(event.pointerId, at);
    if (this.down.size === 2) {
      if (this.mode === "tool") this.host.tool.cancel();
      this.mode = "pinch";
      return;
    }
    if (this.down.size > 2) return;
    if (event.button === 1 || this.isSpaceHeld) {
      this.mode = "pan";
      this.host.setCursor("grabbing");
      return;
    }
    if (event.button !== 0) return;
    this.mode = "tool";
    this.host.pointed?.(at);
    this.host.tool.down(this.host.camera.toBoard(at), pressOf(event));
  }

  private move(event: PointerEvent): void {
    const at = this.local(event);
    const before = this.down.get(event.pointerId);
    if (!before) {
      this.host.pointed?.(at);
      if (!this.isSpaceHeld) this.host.tool.hover?.(this.host.camera.toBoard(at));
      return;
    }
    if (this.mode === "pinch") this.pinch(event.pointerId, before, at);
    this.down.set(event.pointerId, at);
    if (this.mode === "pan") this.host.camera.pan(at.x - before.x, at.y - before.y);
    if (this.mode !== "tool") return;
    this.host.pointed?.(at);
    const gathered = event.getCoalescedEvents?.() ?? [];
    const points = (gathered.length > 0 ? gathered : [event]).map((part) => this.host.camera.toBoard(this.local(part)));
    this.host.tool.move(points, pressOf(event));
  }

  private release(event: PointerEvent, isCancelled: boolean): void {
    if (!this.down.delete(event.pointerId)) return;
    const { mode } = this;
    // The finger of a pinch that stays down must not start to draw.
    if (this.down.size > 0) return;
    this.mode = "none";
    if (mode === "pan") this.host.setCursor(this.isSpaceHeld ? "grab" : this.host.tool.cursor);
    if (event.pointerType === "touch") this.host.pointed?.(undefined);
    if (mode !== "tool") return;
    if (isCancelled) {
      this.host.tool.cancel();
      return;
    }
    this.host.tool.up();
    this.detectDouble(event);
  }

  private detectDouble(event: PointerEvent): void {
    const { x, y } = this.local(event);
    const { lastPress } = this;
    const isNear = Math.hypot(x - lastPress.x, y - lastPress.y) < DOUBLE_DISTANCE;
    const isDouble = isNear && event.timeStamp - lastPress.time < DOUBLE_TIME;
    this.lastPress = { time: isDouble ? 0 : event.timeStamp, x, y };
    if (isDouble) this.host.tool.double?.(this.host.camera.toBoard({ x, y }));
  }

  private pinch(id: number, before: Point, at: Point): void {
    const other = [...this.down].find(([key]) => key !== id)?.[1];
    if (!other) return;
    const { camera } = this.host;
    const middle = { x: (at.x + other.x) / 2, y: (at.y + other.y) / 2 };
    camera.pan((at.x - before.x) / 2, (at.y - before.y) / 2);
    const [was, is] = [distance(before, other), distance(at, other)];
    if (was > 10 && is > 10) camera.zoomBy(is / was, middle);
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    const { camera } = this.host;
    // Firefox counts in lines.
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    if (event.ctrlKey || event.metaKey) {
      const delta = Math.min(Math.max(event.deltaY * unit, -NOTCH), NOTCH);
      camera.zoomBy(Math.exp(-delta * WHEEL_ZOOM), this.local(event));
    } else if (event.shiftKey && event.deltaX === 0) camera.pan(-event.deltaY * unit, 0);
    else camera.pan(-event.deltaX * unit, -event.deltaY * unit);
  }

  private local(event: MouseEvent): Point {
    const { left, top } = this.stage.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  }
}

function pressOf(event: PointerEvent): Press {
  return { shift: event.shiftKey, touch: event.pointerType === "touch" };
}

function distance(a: Point, b: Point): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}

/** How near a press must be, in CSS pixels: a finger is wider than a mouse pointer. */
export function slack(touch: boolean): number {
  return touch ? 14 : 6;
}
