/** One puzzle in one window: the document, what is done to it here, what is seen of the others, and the picture of all. */

import { Camera, type Point, type Rect } from "../../common/view/camera";
import { Gestures, type Press, slack, type Tool } from "../../common/view/gestures";
import { Telepointers } from "../../common/view/telepointers";
import { colorOf, onThemeChanged, wantsStillness } from "../../common/view/theme";
import { Pointers } from "../../common/net/pointers";
import { nameIn } from "../../common/ui/people";
import { Document } from "./model/document";
import { toPlace } from "./model/operations";
import { cellOf, HEIGHT, home, isSameSpec, WIDTH } from "./model/spec";
import type { Group } from "./model/state";
import { type DragView, Live } from "./net/live";
import type { Session } from "./net/session";
import { Motion } from "./view/motion";
import { type Finish, type GroupView, Renderer } from "./view/render";
import { Sprites } from "./view/sprites";

export interface TableEvents {
  /** Something is different that the controls show. */
  changed(): void;
  /** A piece cannot be had, or was lost, to this window; nobody's if the puzzle is another one. */
  refused(holder: string | undefined, isLost: boolean): void;
  solved(): void;
}

/** A joined group is lit up for so long (ms). */
const FLASH = 500;

/** How long the finished picture takes to become whole (ms). */
const FINISH = 1800;

/** Holding a piece this near to the rim (px) moves the view, by so much (px) in a frame at most. */
const RIM = 28;
const RIM_SPEED = 9;

interface Hand {
  readonly piece: number;
  /** Where the pointer is, seen from the group's displacement. */
  readonly grip: Point;
  readonly origin: Point;
  x: number;
  y: number;
}

export class Table implements Tool {
  readonly cursor = "default";
  readonly tool = this;
  readonly document: Document;
  readonly live = new Live();
  readonly pointers = new Pointers();
  readonly camera: Camera;
  readonly gestures: Gestures;
  /** Set once, before the first frame; the document needs somebody to send to, the session a document. */
  session: Session | undefined;

  private readonly renderer: Renderer;
  private readonly telepointers: Telepointers;
  private readonly motion = new Motion();
  private sprites: Sprites;
  private hand: Hand | undefined;
  private panFrom: Point | undefined;
  private lastPointed: Point | undefined;
  /** Which groups were on the upper canvas in the last frame. */
  private moving = "";
  private sizes: number[] = [];
  /** By a group's first piece: from 1, fading to 0. */
  private readonly flashes = new Map<number, number>();
  private flashedAt = 0;
  private solvedAt: number | undefined;
  private frame = 0;
  private alarm: ReturnType<typeof setTimeout> | undefined;
  private touchSlack = 0;

  constructor(
    private readonly stage: HTMLElement,
    room: string,
    private readonly events: TableEvents,
  ) {
    this.document = new Document(room, (operation) => this.session?.sendOperation(operation));
    this.camera = new Camera(() => this.moved());
    this.renderer = new Renderer(stage, this.camera);
    this.telepointers = new Telepointers(stage, this.camera, (id) => this.nameOf(id));
    this.sprites = new Sprites(this.document.state.spec);
    this.motion.arrive(this.document.state);
    this.gestures = new Gestures(stage, this);
    this.document.onChanged({
      changed: () => this.documentChanged(),
      lost: (_, holder) => this.lost(holder),
    });
    new ResizeObserver(() => this.resized()).observe(stage);
    onThemeChanged(() => this.resized());
    this.renderer.resize();
    this.fit();
  }

  get picture(): HTMLCanvasElement {
    return this.sprites.picture;
  }

  nameOf(id: number): string {
    return nameIn(this.session?.participants.get(id)?.presence);
  }

  zoomBy(factor: number): void {
    this.camera.zoomBy(factor, { x: this.renderer.width / 2, y: this.renderer.height / 2 });
  }

  /** Shows all pieces. */
  fit(): void {
    const { state } = this.document;
    const { w, h } = cellOf(state.spec);
    const corners = state
      .all()
      .flatMap(({ x, y, pieces }) =>
        pieces.map((piece) => ({ x: home(state.spec, piece).x + x, y: home(state.spec, piece).y + y })),
      );
    const [left, top] = [Math.min(...corners.map(({ x }) => x)), Math.min(...corners.map(({ y }) => y))];
    const [right, bottom] = [Math.max(...corners.map(({ x }) => x)) + w, Math.max(...corners.map(({ y }) => y)) + h];
    this.show({ x: left, y: top, w: right - left, h: bottom - top });
  }

  /** Goes to where a participant's pointer is. */
  visit(id: number): void {
    const pointer = this.pointers.views(performance.now()).find((view) => view.id === id);
    if (pointer) this.camera.center(pointer, this.renderer.width, this.renderer.height);
  }

  /** What the room has has arrived: it was always so. */
  arrive(): void {
    this.motion.arrive(this.document.state);
    this.sizes = [];
    if (this.document.state.isSolved) this.solvedAt = -Infinity;
    this.flashes.clear();
    this.renderer.redraw();
    this.fit();
  }

  participantsChanged(): void {
    this.telepointers.rename();
    this.requestFrame();
  }

  // What the gestures ask for.

  down(point: Point, press: Press): void {
    this.touchSlack = slack(press.touch);
    const piece = this.find(point);
    if (piece === undefined) {
      this.panFrom = point;
      this.setCursor("grabbing");
      return;
    }
    const { document } = this;
    const { holder } = document.state.group(piece);
    if (holder !== undefined && holder !== document.by) {
      if (this.isHere(this.session?.participantOf(holder))) {
        this.events.refused(holder, false);
        return;
      }
      // Whoever had it has lost the connection.
      document.perform({ free: holder });
    }
    if (!document.grab(piece)) return;
    const { x, y } = this.motion.at(piece);
    this.hand = { piece, grip: { x: point.x - x, y: point.y - y }, origin: document.state.group(piece), x, y };
    this.setCursor("grabbing");
    this.renderer.redraw();
    this.requestFrame();
  }

  move(points: readonly Point[]): void {
    const point = points.at(-1);
    if (!point) return;
    if (this.panFrom) this.pan(this.panFrom, point);
    else this.carry(point);
  }

  up(): void {
    this.panFrom = undefined;
    this.setCursor("default");
    const { hand } = this;
    this.hand = undefined;
    if (hand) this.document.drop(toPlace(hand.x), toPlace(hand.y));
  }

  cancel(): void {
    if (this.hand) Object.assign(this.hand, { x: this.hand.origin.x, y: this.hand.origin.y });
    this.up();
  }

  hover(point: Point): void {
    this.touchSlack = 0;
    this.setCursor(this.find(point) === undefined ? "default" : "grab");
  }

  setCursor(cursor: string): void {
    this.stage.style.cursor = cursor;
  }

  pointed(at: Point | undefined): void {
    const point = at && this.camera.toBoard(at);
    const { x, y } = point ?? (this.lastPointed ? this.camera.toBoard(this.lastPointed) : { x: 0, y: 0 });
    const message = { x: Math.round(x), y: Math.round(y) };
    if (point) this.session?.sendPointer(message);
    else if (this.lastPointed) this.session?.sendPointer({ ...message, off: true });
    this.lastPointed = at;
  }

  requestFrame(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame((now) => this.draw(now));
  }

  /** Where a piece is seen right now. */
  placeOf(piece: number): Point {
    return this.motion.at(piece);
  }

  /** What the others hold, as far as it is theirs. */
  drags(now: number): DragView[] {
    const { state } = this.document;
    return this.live.views(now).filter(({ sender, piece, game }) => {
      if (game !== state.game || piece >= state.spec.columns * state.spec.rows || !this.isHere(sender)) return false;
      const { holder } = state.group(piece);
      // It is not known yet who has it: the word of it comes by another way than where it is.
      return holder === undefined || holder === this.session?.windowOf(sender);
    });
  }

  private find(point: Point): number | undefined {
    const reach = this.touchSlack / this.camera.zoom;
    const around = [0, 1, 2, 3, 4, 5, 6, 7].map((i) => ({
      x: point.x + Math.cos((i * Math.PI) / 4) * reach,
      y: point.y + Math.sin((i * Math.PI) / 4) * reach,
    }));
    for (const at of reach > 0 ? [point, ...around] : [point]) {
      const hit = this.hit(at);
      if (hit !== undefined) return hit;
    }
    return undefined;
  }

  private hit(point: Point): number | undefined {
    const { spec } = this.document.state;
    for (const { pieces } of this.order().reverse())
      for (const piece of pieces) {
        const at = home(spec, piece);
        const { x, y } = this.motion.at(piece);
        const path = this.sprites.paths[piece];
        if (path && HIT.isPointInPath(path, point.x - at.x - x, point.y - at.y - y)) return piece;
      }
    return undefined;
  }

  /** From the lowest to the topmost: a large group must not hide single pieces. */
  private order(): Group[] {
    const groups = this.document.state.all();
    const rank = ({ holder }: Group): number => (holder === undefined ? 0 : 1);
    return groups.sort((a, b) => rank(a) - rank(b) || b.pieces.length - a.pieces.length || a.z - b.z);
  }

  private pan(from: Point, to: Point): void {
    this.camera.pan((to.x - from.x) * this.camera.zoom, (to.y - from.y) * this.camera.zoom);
  }

  private carry(point: Point): void {
    const { hand } = this;
    if (!hand) return;
    hand.x = point.x - hand.grip.x;
    hand.y = point.y - hand.grip.y;
    const [gx, gy] = [Math.round(hand.grip.x), Math.round(hand.grip.y)];
    const { game } = this.document.state;
    this.session?.sendDrag({ game, piece: hand.piece, x: toPlace(hand.x), y: toPlace(hand.y), gx, gy });
    this.requestFrame();
  }

  /** A piece at the rim of the window takes the view along. */
  private drift(): boolean {
    const at = this.lastPointed;
    if (!this.hand || !at) return false;
    const push = (value: number, size: number): number =>
      value < RIM ? (RIM - value) / RIM : value > size - RIM ? (size - RIM - value) / RIM : 0;
    const [dx, dy] = [push(at.x, this.renderer.width), push(at.y, this.renderer.height)];
    if (dx === 0 && dy === 0) return false;
    const limit = (value: number): number => Math.max(Math.min(value, 1), -1) * RIM_SPEED;
    this.camera.pan(limit(dx), limit(dy));
    this.carry(this.camera.toBoard(at));
    return true;
  }

  private draw(now: number): void {
    this.frame = 0;
    const { state } = this.document;
    const isDrifting = this.drift();
    const drags = this.drags(now);
    const held = this.held(drags);
    const gliding = this.motion.advance(state, held.places, now, wantsStillness());
    this.flash(now);
    const { resting, moving } = this.split(held, gliding);
    const finish = this.finish(now);
    this.renderer.draw(this.sprites, resting, moving, finish);
    const views = this.pointers.views(now).filter(({ id }) => this.isHere(id));
    this.telepointers.draw(views, (id) => tip(drags, id));
    clearTimeout(this.alarm);
    const isFinishing = finish !== undefined && finish.share < 1;
    if (gliding.size > 0 || this.flashes.size > 0 || isDrifting || isFinishing || this.live.isMoving(now)) {
      this.requestFrame();
      return;
    }
    const rest = this.pointers.changesIn(now);
    if (rest === 0) this.requestFrame();
    else if (rest < Infinity) this.alarm = setTimeout(() => this.requestFrame(), rest);
  }

  /** Where the pieces are that somebody holds, and in whose colour. */
  private held(drags: readonly DragView[]): Held {
    const { state } = this.document;
    const places = new Map<number, Point>();
    const colors = new Map<number, string>();
    const hold = (piece: number, place: Point | undefined, id: number): void => {
      for (const part of state.group(piece).pieces) {
        if (place) places.set(part, place);
        colors.set(part, colorOf(id));
      }
    };
    // Held, but not moved yet.
    for (const holder of state.holders) {
      const id = this.session?.participantOf(holder);
      const first = state.all().find((group) => group.holder === holder)?.pieces[0];
      if (id !== undefined && first !== undefined) hold(first, undefined, id);
    }
    for (const { piece, x, y, sender } of drags) hold(piece, { x, y }, sender);
    // One's own hand is nearer than anybody else's.
    if (this.hand) hold(this.hand.piece, { x: this.hand.x, y: this.hand.y }, this.session?.self?.id ?? 1);
    return { places, colors };
  }

  private split({ colors }: Held, gliding: ReadonlySet<number>): Record<"resting" | "moving", GroupView[]> {
    const resting: GroupView[] = [];
    const moving: GroupView[] = [];
    const above: GroupView[] = [];
    const names: number[] = [];
    for (const { pieces } of this.order()) {
      const first = pieces[0] ?? 0;
      const flash = this.flashes.get(first);
      const color = colors.get(first);
      const views = pieces.map((piece) => ({ piece, ...this.motion.at(piece) }));
      const isMoving = color !== undefined || flash !== undefined || pieces.some((piece) => gliding.has(piece));
      if (isMoving) names.push(first);
      const view = { pieces: views, color, ...(flash !== undefined && { flash }) };
      (color !== undefined ? above : isMoving ? moving : resting).push(view);
    }
    const key = names.join();
    // What began to move has to go from the lower canvas; what came to rest has to get there.
    if (key !== this.moving) this.renderer.redraw();
    this.moving = key;
    return { resting, moving: [...moving, ...above] };
  }

  /** Lights up what has grown. */
  private flash(now: number): void {
    const { state } = this.document;
    for (const [first, value] of this.flashes) {
      const left = value - (now - this.flashedAt) / FLASH;
      if (left > 0) this.flashes.set(first, left);
      else this.flashes.delete(first);
    }
    this.flashedAt = now;
    const sizes = this.sizes;
    this.sizes = Array.from({ length: state.spec.columns * state.spec.rows }, (_, i) => state.group(i).pieces.length);
    if (sizes.length !== this.sizes.length) return;
    for (const { pieces } of state.all()) {
      const first = pieces[0] ?? 0;
      if (pieces.some((piece) => (sizes[piece] ?? 0) < pieces.length)) this.flashes.set(first, 1);
    }
  }

  private finish(now: number): Finish | undefined {
    if (this.solvedAt === undefined) return undefined;
    const { x, y } = this.motion.at(0);
    const share = wantsStillness() ? 1 : Math.min((now - this.solvedAt) / FINISH, 1);
    return { x, y, share: this.hand ? 0 : share };
  }

  private isHere(id: number | undefined): boolean {
    if (id === undefined || this.session?.status !== "connected") return false;
    return this.session.participants.get(id)?.away === false;
  }

  private lost(holder: string | undefined): void {
    this.hand = undefined;
    this.gestures.cancel();
    this.events.refused(holder, true);
  }

  private documentChanged(): void {
    const { state } = this.document;
    if (!isSameSpec(state.spec, this.sprites.spec)) {
      this.sprites = new Sprites(state.spec);
      this.flashes.clear();
      this.sizes = [];
      this.fit();
    }
    if (!state.isSolved) this.solvedAt = undefined;
    else if (this.solvedAt === undefined) {
      this.solvedAt = performance.now();
      const { x, y } = state.group(0);
      this.show({ x, y, w: WIDTH, h: HEIGHT });
      this.events.solved();
    }
    this.renderer.redraw();
    this.requestFrame();
    this.events.changed();
  }

  private show(rect: Rect): void {
    this.camera.fit(rect, this.renderer.width, this.renderer.height);
  }

  private moved(): void {
    this.renderer.redraw();
    this.requestFrame();
    this.events.changed();
  }

  private resized(): void {
    this.renderer.resize();
    this.requestFrame();
  }
}

interface Held {
  readonly places: ReadonlyMap<number, Point>;
  readonly colors: ReadonlyMap<number, string>;
}

/** The hand of whoever holds something is at the piece, not ahead of it. */
function tip(drags: readonly DragView[], id: number): readonly [number, number] | undefined {
  const drag = drags.find(({ sender }) => sender === id);
  return drag && [drag.x + drag.gx, drag.y + drag.gy];
}

const HIT = hitContext();
function hitContext(): CanvasRenderingContext2D {
  const ctx = document.createElement("canvas").getContext("2d");
  if (!ctx) throw new Error("this browser gives no canvas");
  return ctx;
}
