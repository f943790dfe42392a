/** The board of one window: connects the document, the session, the tools and the drawing. */

import type { Cursors } from "groupwire-widgets/cursors";
import { Document } from "./model/document";
import { newId } from "../../common/id";
import type { Patch, Shape } from "./model/shapes";
import { type DragMessage, Live, type StrokeMessage, type StrokeView } from "./net/live";
import type { Session } from "./net/session";
import { BoxTool } from "./tools/box";
import { Eraser } from "./tools/eraser";
import { Pen } from "./tools/pen";
import { Select } from "./tools/select";
import { TextTool } from "./tools/text";
import type { Canvas, Style, ToolName } from "./tools/tool";
import { nameIn } from "../../common/ui/people";
import { whenOthersCome } from "../../common/ui/company";
import { Camera, type Point, type Rect } from "../../common/view/camera";
import { TextEditor } from "./view/editor";
import { box, contains, isHit, union } from "./view/geometry";
import { Gestures, slack, type Tool } from "../../common/view/gestures";
import { Renderer } from "./view/render";
import { onThemeChanged } from "../../common/view/theme";

/** The offset of a duplicate from its original, in board units. */
const APART = 24;

export class Board implements Canvas {
  readonly document = new Document();
  readonly live = new Live();
  private wasLive = false;
  readonly style: Style = { color: "ink", width: 4, fill: false };
  readonly camera: Camera;
  readonly gestures: Gestures;
  toolName: ToolName = "pen";
  selection: ReadonlySet<string> = new Set();
  session: Session | undefined;
  cursors: Cursors | undefined;

  private readonly renderer: Renderer;
  private readonly editor: TextEditor;
  private readonly tools: Readonly<Record<ToolName, Tool>>;
  private readonly lifted = new Map<string, Shape>();
  private stroke: StrokeView | undefined;
  private marquee: Rect | undefined;
  private erased: ReadonlySet<string> = new Set();
  private frame = 0;
  private touchSlack = 6;

  /**
   * `onChanged` is called when the tool, the selection, the zoom or the undo history may have
   * changed.
   */
  constructor(
    private readonly stage: HTMLElement,
    private readonly onChanged: () => void,
  ) {
    this.camera = new Camera(() => this.moved());
    this.renderer = new Renderer(stage, this.document, this.camera);
    this.editor = new TextEditor(stage, this.camera, this, () => this.requestFrame());
    this.tools = {
      select: new Select(this),
      pen: new Pen(this),
      rectangle: new BoxTool(this, "rectangle"),
      ellipse: new BoxTool(this, "ellipse"),
      text: new TextTool(this),
      eraser: new Eraser(this),
    };
    this.gestures = new Gestures(stage, this);
    stage.addEventListener(
      "pointerdown",
      ({ pointerType }) => {
        this.touchSlack = slack(pointerType === "touch");
      },
      { capture: true },
    );
    this.document.listen({ changed: () => this.documentChanged() });
    new ResizeObserver(() => this.resized()).observe(stage);
    onThemeChanged(() => this.resized());
    this.setCursor(this.tool.cursor);
    this.requestFrame();
  }

  /**
   * To be called once, before the first frame: the session needs the document, and the board the
   * session.
   */
  join(session: Session): void {
    this.session = session;
    whenOthersCome(session.room, async () => {
      const { addCursors } = await import("../../common/ui/others");
      this.cursors = addCursors(this.stage, this.camera, session.room, {
        held: (id) => this.live.tip(id),
        hasTraces: true,
      });
    });
  }

  get tool(): Tool {
    return this.tools[this.toolName];
  }

  get zoom(): number {
    return this.camera.zoom;
  }

  choose(name: ToolName): void {
    this.gestures.cancel();
    this.toolName = name;
    if (name !== "select") this.selection = new Set();
    this.setCursor(this.tool.cursor);
    this.changed();
  }

  /** Sets the style of new objects and of the selected ones. */
  setStyle(style: Partial<Style>): void {
    Object.assign(this.style, style);
    this.patchSelection(style);
    this.changed();
  }

  patchSelection(patch: Patch): void {
    const set = [...this.selection].filter((id) => this.document.shapes.has(id)).map((id) => [id, patch] as const);
    if (set.length > 0) this.document.perform({ set });
  }

  nudge(dx: number, dy: number): void {
    const set = [...this.selection].flatMap((id) => {
      const shape = this.document.shapes.get(id);
      return shape ? [[id, { x: shape.x + dx, y: shape.y + dy }] as const] : [];
    });
    if (set.length > 0) this.document.perform({ set });
  }

  duplicate(): void {
    const add = [...this.selection].flatMap((id, i) => {
      const shape = this.document.shapes.get(id);
      return shape
        ? [[newId(), { ...shape, x: shape.x + APART, y: shape.y + APART, z: this.document.nextZ(i) }] as const]
        : [];
    });
    if (add.length === 0) return;
    this.document.perform({ add });
    this.select(add.map(([id]) => id));
  }

  deleteSelection(): void {
    const del = [...this.selection].filter((id) => this.document.shapes.has(id));
    if (del.length > 0) this.document.perform({ del });
  }

  undo(): void {
    this.document.undo();
    this.changed();
  }

  redo(): void {
    this.document.redo();
    this.changed();
  }

  zoomBy(factor: number): void {
    this.camera.zoomBy(factor, { x: this.renderer.width / 2, y: this.renderer.height / 2 });
  }

  /** Fits the whole drawing into the window. */
  fit(): void {
    const all = union([...this.document.shapes.values()].map(box));
    if (all) this.camera.fit(all, this.renderer.width, this.renderer.height);
    else this.zoomBy(1 / this.zoom);
  }

  /** Fits the drawing if a newcomer's window does not show all of it. */
  arrive(): void {
    const all = union([...this.document.shapes.values()].map(box));
    const seen = {
      x: this.camera.x,
      y: this.camera.y,
      w: this.renderer.width / this.zoom,
      h: this.renderer.height / this.zoom,
    };
    if (all && !contains(seen, all)) this.fit();
  }

  /** Moves the view to a participant's pointer. */
  visit(id: number): void {
    const [x, y] = this.cursors?.placeOf(id) ?? [];
    if (x !== undefined && y !== undefined) this.camera.center({ x, y }, this.renderer.width, this.renderer.height);
  }

  nameOf(id: number): string {
    return nameIn(this.session?.room.participants.get(id)?.presence);
  }

  // The actions of tools.

  select(ids: Iterable<string>): void {
    this.selection = new Set(ids);
    this.changed();
  }

  find(point: Point, inside: boolean): string | undefined {
    const reach = this.touchSlack / this.zoom;
    const shapes = this.renderer.topDown().filter(([id]) => !this.erased.has(id));
    // A line has precedence over an area above it.
    const hit =
      shapes.find(([, shape]) => isHit(shape, point, reach, false)) ??
      (inside ? shapes.find(([, shape]) => isHit(shape, point, 0, true)) : undefined);
    return hit?.[0];
  }

  lift(id: string, shape: Shape): void {
    this.lifted.set(id, shape);
    this.requestFrame();
  }

  drop(ids: Iterable<string>): void {
    for (const id of ids) this.lifted.delete(id);
    this.requestFrame();
  }

  showStroke(stroke: StrokeView | undefined): void {
    this.stroke = stroke;
    this.requestFrame();
  }

  showMarquee(rect: Rect | undefined): void {
    this.marquee = rect;
    this.requestFrame();
  }

  showErased(ids: ReadonlySet<string>): void {
    this.erased = ids;
    this.requestFrame();
  }

  setCursor(cursor: string): void {
    this.stage.style.cursor = cursor;
  }

  pan(from: Point, to: Point): void {
    this.camera.pan((to.x - from.x) * this.zoom, (to.y - from.y) * this.zoom);
  }

  sendDrag(message: DragMessage): void {
    this.session?.sendDrag(message);
  }

  sendStroke(message: StrokeMessage): void {
    this.session?.sendStroke(message);
  }

  editText(id: string | undefined, at: Point): void {
    this.editor.open(id, at);
  }

  finished(id: string): void {
    this.choose("select");
    this.select([id]);
  }

  requestFrame(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame((now) => this.draw(now));
  }

  private draw(now: number): void {
    this.frame = 0;
    const isLive = this.live.advance(now);
    if (isLive !== this.wasLive) {
      this.wasLive = isLive;
      this.onChanged();
    }
    const find = (id: string) => this.document.shapes.get(id);
    const lifted = this.live.dragViews(now, find);
    // One's own drag has precedence over those of others.
    for (const [id, shape] of this.lifted) lifted.set(id, shape);
    this.renderer.draw({
      lifted,
      strokes: [...this.live.strokeViews(), ...(this.stroke ? [this.stroke] : [])],
      selection: this.selection,
      marquee: this.marquee,
      erased: this.erased,
      edited: this.editor.edited,
    });
    if (!isLive) return;
    // The cursors are at the ends of the strokes.
    this.cursors?.refresh();
    this.requestFrame();
  }

  private documentChanged(): void {
    const stillThere = [...this.selection].filter((id) => this.document.shapes.has(id));
    if (stillThere.length < this.selection.size) this.selection = new Set(stillThere);
    this.changed();
  }

  private moved(): void {
    // The grid of dots moves and scales with the board, and becomes sparser before the dots are too
    // close.
    const step = 24 * this.zoom * 2 ** Math.max(0, Math.ceil(-Math.log2(this.zoom * 1.2)));
    this.stage.style.setProperty("--dots", `${step}px`);
    this.stage.style.setProperty("--dots-x", `${-this.camera.x * this.zoom}px`);
    this.stage.style.setProperty("--dots-y", `${-this.camera.y * this.zoom}px`);
    this.editor.place();
    this.renderer.redraw();
    this.cursors?.refresh();
    this.changed();
  }

  private resized(): void {
    this.renderer.resize();
    this.editor.place();
    this.requestFrame();
  }

  private changed(): void {
    this.requestFrame();
    this.onChanged();
  }
}
