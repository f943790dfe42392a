/** The table of one window: connects the document, the session, the hand and the drawing. */

import type { Cursors } from "groupwire-widgets/cursors";
import { Camera, type Point, type Rect } from "../../common/view/camera";
import { whenOthersCome } from "../../common/ui/company";
import { Gestures } from "../../common/view/gestures";
import { colorOf, onThemeChanged, wantsStillness } from "../../common/view/theme";
import { nameIn } from "../../common/ui/people";
import { type Desk, Hand } from "./hand";
import { Document } from "./model/document";
import { cellOf, HEIGHT, home, isSameSpec, pieceCount, WIDTH } from "./model/spec";
import { type DragMessage, type DragView, Live } from "./net/live";
import type { Session } from "./net/session";
import { Flashes } from "./view/flashes";
import { Motion } from "./view/motion";
import { pieceAt, stacked } from "./view/picking";
import { type Finish, type GroupView, Renderer } from "./view/render";
import { Sprites } from "./view/sprites";

export interface TableEvents {
  /** Something that the controls show has changed. */
  changed(): void;
  /**
   * A piece cannot be grabbed or was lost to the window `holder`; undefined if a new puzzle was
   * started.
   */
  refused(holder: string | undefined, isLost: boolean): void;
  solved(): void;
}

/** Duration (ms) in which the finished picture becomes whole. */
const FINISH = 1800;

export class Table implements Desk {
  readonly document: Document;
  readonly live = new Live();
  readonly camera: Camera;
  readonly tool: Hand;
  readonly gestures: Gestures;
  session: Session | undefined;
  cursors: Cursors | undefined;

  private readonly renderer: Renderer;
  private readonly motion = new Motion();
  private sprites: Sprites;
  private lastPointed: Point | undefined;
  /** The groups that were on the upper canvas in the last frame. */
  private moving = "";
  private readonly flashes = new Flashes();
  private solvedAt: number | undefined;
  private frame = 0;

  constructor(
    private readonly stage: HTMLElement,
    room: string,
    private readonly events: TableEvents,
  ) {
    this.document = new Document(room);
    this.camera = new Camera(() => this.moved());
    this.renderer = new Renderer(stage, this.camera);
    this.sprites = new Sprites(this.document.state.spec);
    this.motion.arrive(this.document.state);
    this.tool = new Hand(this);
    this.gestures = new Gestures(stage, this);
    this.document.listen({
      changed: () => this.documentChanged(),
      lost: (_, holder) => this.lost(holder),
    });
    new ResizeObserver(() => this.resized()).observe(stage);
    onThemeChanged(() => this.resized());
    this.renderer.resize();
    this.fit();
  }

  /**
   * To be called once, before the first frame: the session needs the document, and the table the
   * session.
   */
  join(session: Session): void {
    this.session = session;
    whenOthersCome(session.room, async () => {
      const { addCursors } = await import("../../common/ui/others");
      this.cursors = addCursors(this.stage, this.camera, session.room, {
        held: (id) => tip(this.drags(performance.now()), id),
        hasTraces: false,
      });
    });
  }

  get picture(): HTMLCanvasElement {
    return this.sprites.picture;
  }

  /** Moves the view to a participant's pointer. */
  visit(id: number): void {
    const [x, y] = this.cursors?.placeOf(id) ?? [];
    if (x !== undefined && y !== undefined) this.camera.center({ x, y }, this.renderer.width, this.renderer.height);
  }

  nameOf(id: number): string {
    return nameIn(this.session?.room.participants.get(id)?.presence);
  }

  zoomBy(factor: number): void {
    this.camera.zoomBy(factor, { x: this.renderer.width / 2, y: this.renderer.height / 2 });
  }

  /** Fits all pieces into the window. */
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

  /** The room's state has arrived and is shown without animation. */
  arrive(): void {
    this.motion.arrive(this.document.state);
    if (this.document.state.isSolved) this.solvedAt = -Infinity;
    this.flashes.clear();
    this.renderer.redraw();
    this.fit();
  }

  // The methods that the hand calls.

  find(point: Point, slack: number): number | undefined {
    return pieceAt(point, slack / this.camera.zoom, this.document.state, this.motion, this.sprites);
  }

  placeOf(piece: number): Point {
    return this.motion.at(piece);
  }

  isHere(window: string): boolean {
    return this.isPresent(this.session?.participantOf(window));
  }

  sendDrag(message: DragMessage): void {
    this.session?.sendDrag(message);
  }

  refuse(holder: string): void {
    this.events.refused(holder, false);
  }

  setCursor(cursor: string): void {
    this.stage.style.cursor = cursor;
  }

  pointed(at: Point | undefined): void {
    this.lastPointed = at;
  }

  requestFrame(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame((now) => this.draw(now));
  }

  /** The pieces that others hold, if the document confirms it. */
  drags(now: number): DragView[] {
    const { state } = this.document;
    return this.live.views(now).filter(({ sender, piece, game, isOld }) => {
      if (game !== state.game || piece >= pieceCount(state.spec) || !this.isPresent(sender)) return false;
      const { holder } = state.group(piece);
      // The grab may arrive later than the drag, because they use different channels: then the
      // holder is unknown.
      return holder === undefined ? !isOld : holder === this.session?.windowOf(sender);
    });
  }

  private draw(now: number): void {
    this.frame = 0;
    const { state } = this.document;
    const isDrifting = this.tool.drift(this.lastPointed, this.renderer.width, this.renderer.height);
    const drags = this.drags(now);
    const held = this.held(drags);
    const gliding = this.motion.advance(state, held.places, now, wantsStillness());
    this.flashes.look(state, now);
    const { resting, moving } = this.split(held, gliding, now);
    const finish = this.finish(now);
    this.renderer.draw(this.sprites, resting, moving, finish);
    // The cursor of a participant who drags is shown at the piece.
    if (drags.length > 0) this.cursors?.refresh();
    const isFinishing = finish !== undefined && finish.share < 1;
    if (gliding.size > 0 || !this.flashes.isEmpty || isDrifting || isFinishing || this.live.isMoving(now)) {
      this.requestFrame();
    }
  }

  /** The places of held pieces, and the colours of their holders. */
  private held(drags: readonly DragView[]): Hands {
    const { state } = this.document;
    const places = new Map<number, Point>();
    const colors = new Map<number, string>();
    const hold = (piece: number, place: Point | undefined, id: number): void => {
      for (const part of state.group(piece).pieces) {
        if (place) places.set(part, place);
        colors.set(part, colorOf(id));
      }
    };
    // Held pieces that have not been moved have no drag yet.
    for (const holder of state.holders) {
      const id = this.session?.participantOf(holder);
      const first = state.all().find((group) => group.holder === holder)?.pieces[0];
      if (id !== undefined && first !== undefined) hold(first, undefined, id);
    }
    for (const { piece, x, y, sender } of drags) hold(piece, { x, y }, sender);
    // The user's own drag has precedence over those of others.
    const own = this.tool.held;
    if (own) hold(own.piece, own, this.session?.room.self?.id ?? 1);
    return { places, colors };
  }

  private split(
    { colors }: Hands,
    gliding: ReadonlySet<number>,
    now: number,
  ): Record<"resting" | "moving", GroupView[]> {
    const resting: GroupView[] = [];
    const moving: GroupView[] = [];
    const above: GroupView[] = [];
    const names: number[] = [];
    for (const { pieces } of stacked(this.document.state)) {
      const first = pieces[0] ?? 0;
      const flash = this.flashes.of(first, now);
      const color = colors.get(first);
      const views = pieces.map((piece) => ({ piece, ...this.motion.at(piece) }));
      const isMoving = color !== undefined || flash !== undefined || pieces.some((piece) => gliding.has(piece));
      if (isMoving) names.push(first);
      const view = { pieces: views, color, ...(flash !== undefined && { flash }) };
      (color !== undefined ? above : isMoving ? moving : resting).push(view);
    }
    const key = names.join();
    // Groups that began or stopped to move change the canvas.
    if (key !== this.moving) this.renderer.redraw();
    this.moving = key;
    return { resting, moving: [...moving, ...above] };
  }

  private finish(now: number): Finish | undefined {
    if (this.solvedAt === undefined) return undefined;
    const { x, y } = this.motion.at(0);
    const share = wantsStillness() ? 1 : Math.min((now - this.solvedAt) / FINISH, 1);
    return { x, y, share: this.document.state.group(0).holder === undefined ? share : 0 };
  }

  private isPresent(id: number | undefined): boolean {
    if (id === undefined || this.session?.room.status !== "connected") return false;
    return this.session.room.participants.get(id)?.away === false;
  }

  private lost(holder: string | undefined): void {
    this.tool.lose();
    this.gestures.cancel();
    this.events.refused(holder, true);
  }

  private documentChanged(): void {
    const { state } = this.document;
    if (!isSameSpec(state.spec, this.sprites.spec)) {
      this.sprites = new Sprites(state.spec);
      this.flashes.clear();
      this.fit();
    }
    if (!state.isSolved) this.solvedAt = undefined;
    else if (this.solvedAt === undefined) {
      this.solvedAt = performance.now();
      const { x, y } = state.group(0);
      // Leaves space for the text below the picture.
      this.show({ x, y, w: WIDTH, h: HEIGHT * 1.3 });
      this.events.solved();
    }
    this.renderer.redraw();
    this.requestFrame();
    this.events.changed();
  }

  private show(rect: Rect): void {
    const { width, height } = this.renderer;
    this.camera.fit(rect, width, height, Math.min(60, width / 28));
  }

  private moved(): void {
    this.renderer.redraw();
    this.cursors?.refresh();
    this.requestFrame();
    this.events.changed();
  }

  private resized(): void {
    this.renderer.resize();
    this.requestFrame();
  }
}

interface Hands {
  readonly places: ReadonlyMap<number, Point>;
  readonly colors: ReadonlyMap<number, string>;
}

/** The pointer of a participant who holds a piece is shown at the piece, not ahead of it. */
function tip(drags: readonly DragView[], id: number): readonly [number, number] | undefined {
  const drag = drags.find(({ sender }) => sender === id);
  return drag && [drag.x + drag.gx, drag.y + drag.gy];
}
