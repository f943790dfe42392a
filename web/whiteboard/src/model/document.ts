/** The board as this window shows it: a map of shared data, whose keys are the ids of objects. */

import type { Compress, Room } from "groupwire";
import { map, shared, type Definition, type Shared, type SharedMap } from "groupwire/shared";
import { FAR } from "../../../common/parse";
import { type RestoringListener, watchRestoring } from "../../../common/net/restoring";
import { overwriting, SHAPE, type Patch, type Shape } from "./shapes";

/** What an action of the user does. */
export interface Change {
  /** New objects. */
  readonly add?: readonly (readonly [id: string, shape: Shape])[];
  readonly set?: readonly (readonly [id: string, patch: Patch])[];
  readonly del?: readonly string[];
}

export interface DocumentListener extends RestoringListener {
  changed?(ids: ReadonlySet<string>): void;
  /**
   * An operation of a participant on these objects has arrived at its place in the room's order.
   */
  ordered?(sender: number, ids: readonly string[]): void;
}

const NOTHING: ReadonlyMap<string, Shape> = new Map();

export class Document {
  private data: Shared<{ shapes: Definition<SharedMap<Shape, Shape>> }> | undefined;
  private readonly listeners: DocumentListener[] = [];

  /** Opens the board in a room. To be called once, in the task in which the room was made. */
  open(room: Room, compress: Compress): void {
    // Finished operations have precedence over previews of drags.
    const operations = { priority: 200, compress };
    this.data = shared({ shapes: map(SHAPE) }, { name: "draw", operations, previews: false }).open(room);
    this.data.shapes.subscribe((ids) => this.notify((listener) => listener.changed?.(ids)));
    this.data.onOperation(({ sender, changes }) => {
      const ids = changes.map(({ key }) => key).filter((key) => key !== undefined);
      this.notify((listener) => listener.ordered?.(sender, ids));
    });
    watchRestoring(this.data, this.listeners);
  }

  /** The objects to show. */
  get shapes(): ReadonlyMap<string, Shape> {
    return this.data?.shapes.value ?? NOTHING;
  }

  /** The number of operations that are not ordered yet. */
  get waiting(): number {
    return this.data?.pending ?? 0;
  }

  get canUndo(): boolean {
    return this.data?.canUndo ?? false;
  }

  get canRedo(): boolean {
    return this.data?.canRedo ?? false;
  }

  /**
   * The position above all other objects, for a new object, or for the one that is `above` others
   * of them. If somebody has taken the highest position, it is that one: a higher one would be no
   * object for anybody.
   */
  nextZ(above = 0): number {
    const highest = [...this.shapes.values()].reduce((highest, { z }) => Math.max(highest, z), 0);
    return Math.min(highest + 1 + above, FAR);
  }

  listen(listener: DocumentListener): void {
    this.listeners.push(listener);
  }

  /**
   * Performs an action of this window: applies it at once and sends it. It is undone as a whole.
   */
  perform({ add = [], set = [], del = [] }: Change): void {
    const shapes = this.data?.shapes;
    this.data?.batch(() => {
      for (const [id, shape] of add) shapes?.set(id, shape);
      for (const [id, patch] of set) {
        const fields = overwriting(shapes?.get(id), patch);
        if (fields) shapes?.patch(id, fields as Partial<Shape>);
      }
      for (const id of del) shapes?.delete(id);
    });
  }

  undo(): void {
    this.data?.undo();
  }

  redo(): void {
    this.data?.redo();
  }

  private notify(what: (listener: DocumentListener) => void): void {
    for (const listener of this.listeners) what(listener);
  }
}
