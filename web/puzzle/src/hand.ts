/** One's own hand: it takes pieces up, carries and drops them, and moves the view where there is no piece. */

import type { Camera, Point } from "../../common/view/camera";
import { type Press, slack, type Tool } from "../../common/view/gestures";
import type { Document } from "./model/document";
import { toPlace } from "./model/operations";
import type { DragMessage } from "./net/live";

/** What the hand is at. */
export interface Desk {
  readonly document: Document;
  readonly camera: Camera;
  /** The topmost piece at a point, or within so many CSS pixels of it. */
  find(point: Point, slack: number): number | undefined;
  /** Where a piece is seen: its displacement from home. */
  placeOf(piece: number): Point;
  /** The window is still in the room. */
  isHere(window: string): boolean;
  sendDrag(message: DragMessage): void;
  setCursor(cursor: string): void;
  requestFrame(): void;
  /** The piece cannot be had. */
  refuse(holder: string): void;
}

/** Holding a piece this near to the rim of the window (px) moves the view, by so much (px) in a frame at most. */
const RIM = 28;
const RIM_SPEED = 9;

export interface Held {
  readonly piece: number;
  /** Its group's displacement from home. */
  readonly x: number;
  readonly y: number;
}

interface Grip extends Held {
  /** Where the pointer is, seen from the group's displacement. */
  readonly dx: number;
  readonly dy: number;
  /** Where it lay. */
  readonly origin: Point;
}

export class Hand implements Tool {
  readonly cursor = "default";
  private grip: Grip | undefined;
  private panFrom: Point | undefined;
  /** The pointer was away from the rim since it took the piece up: a piece that lay there stays there. */
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
      // Whoever had it has lost the connection.
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

  /** The piece is somebody else's. */
  lose(): void {
    this.grip = undefined;
  }

  /** A piece at the rim of the window takes the view along. `at`: the pointer, in pixels. True while it does. */
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
