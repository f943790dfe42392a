/** The user's hand: grabs, moves and drops pieces, and moves the view where there is no piece. */

import type { Camera, Point } from "../../common/view/camera";
import { type Press, slack, type Tool } from "../../common/view/gestures";
import type { Document } from "./model/document";
import { toPlace } from "./model/moves";
import type { DragMessage } from "./net/live";

/** What the hand needs from the table. */
export interface Desk {
  readonly document: Document;
  readonly camera: Camera;
  /** The topmost piece at a point, or within `slack` CSS pixels of it. */
  find(point: Point, slack: number): number | undefined;
  /** The displacement from home at which a piece is shown. */
  placeOf(piece: number): Point;
  /** True if the window is still in the room. */
  isHere(window: string): boolean;
  sendDrag(message: DragMessage): void;
  setCursor(cursor: string): void;
  requestFrame(): void;
  /** Another window holds the piece. */
  refuse(holder: string): void;
}

/**
 * A piece held this near to the edge of the window (px) moves the view, by at most `RIM_SPEED` px
 * per frame.
 */
const RIM = 28;
const RIM_SPEED = 9;

export interface Held {
  readonly piece: number;
  /** The displacement of the held group from its home. */
  readonly x: number;
  readonly y: number;
}

interface Grip extends Held {
  /** The pointer relative to the group's displacement. */
  readonly dx: number;
  readonly dy: number;
  /** The displacement before the piece was grabbed. */
  readonly origin: Point;
}

export class Hand implements Tool {
  readonly cursor = "default";
  private grip: Grip | undefined;
  private panFrom: Point | undefined;
  /**
   * True once the pointer was away from the edge: a piece that lies at the edge does not move the
   * view when it is grabbed.
   */
  private mayDrift = false;

  constructor(private readonly desk: Desk) {}

  get held(): Held | undefined {
    return this.grip;
  }

  down(point: Point, press: Press): void {
    const { desk } = this;
    const piece = desk.find(point, slack(press.touch));
    if (piece === undefined) {
      this.panFrom = point;
      desk.setCursor("grabbing");
      return;
    }
    const { document } = desk;
    const { holder } = document.state.group(piece);
    if (holder !== undefined && holder !== document.by) {
      if (desk.isHere(holder)) {
        desk.refuse(holder);
        return;
      }
      // The window that holds the piece has left the room.
      document.perform({ free: holder });
    }
    if (!document.grab(piece)) return;
    const { x, y } = desk.placeOf(piece);
    this.grip = { piece, x, y, dx: point.x - x, dy: point.y - y, origin: document.state.group(piece) };
    this.mayDrift = false;
    desk.setCursor("grabbing");
    desk.requestFrame();
  }

  move(points: readonly Point[]): void {
    const point = points.at(-1);
    const { camera } = this.desk;
    if (!point) return;
    if (this.panFrom) camera.pan((point.x - this.panFrom.x) * camera.zoom, (point.y - this.panFrom.y) * camera.zoom);
    else this.carry(point);
  }

  up(): void {
    this.panFrom = undefined;
    this.desk.setCursor(this.cursor);
    const { grip } = this;
    this.grip = undefined;
    if (grip) this.desk.document.drop(toPlace(grip.x), toPlace(grip.y));
  }

  cancel(): void {
    if (this.grip) this.grip = { ...this.grip, x: this.grip.origin.x, y: this.grip.origin.y };
    this.up();
  }

  hover(point: Point): void {
    this.desk.setCursor(this.desk.find(point, 0) === undefined ? this.cursor : "grab");
  }

  /** Opens the hand, because another window has the piece. */
  lose(): void {
    this.grip = undefined;
  }

  /**
   * Moves the view while a piece is held at the edge of the window. `at` is the pointer in pixels.
   * Returns true while the view moves.
   */
  drift(at: Point | undefined, width: number, height: number): boolean {
    if (!this.grip || !at) return false;
    const push = (value: number, size: number): number =>
      value < RIM ? (RIM - value) / RIM : value > size - RIM ? (size - RIM - value) / RIM : 0;
    const [dx, dy] = [push(at.x, width), push(at.y, height)];
    if (dx === 0 && dy === 0) this.mayDrift = true;
    if (!this.mayDrift || (dx === 0 && dy === 0)) return false;
    const limited = (value: number): number => Math.max(Math.min(value, 1), -1) * RIM_SPEED;
    this.desk.camera.pan(limited(dx), limited(dy));
    this.carry(this.desk.camera.toBoard(at));
    return true;
  }

  private carry(point: Point): void {
    if (!this.grip) return;
    const { piece, dx, dy } = this.grip;
    this.grip = { ...this.grip, x: point.x - dx, y: point.y - dy };
    const [x, y] = [toPlace(this.grip.x), toPlace(this.grip.y)];
    const { game } = this.desk.document.state;
    this.desk.sendDrag({ game, piece, x, y, gx: Math.round(dx), gy: Math.round(dy) });
    this.desk.requestFrame();
  }
}
