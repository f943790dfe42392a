/** Windows without a browser: tldraw's store, bound to a room over a simulated network. */

import { createTLSchema, type TLRecord, type TLStoreProps } from "@tldraw/tlschema";
import { Store } from "@tldraw/store";
import type { Simulation } from "groupwire/testing";
import { drawing, type Drawing } from "../src/room";
import type { RecordStore } from "../src/store";
import { DocumentSync } from "../src/sync";

const schema = createTLSchema();

export type Shape = Extract<TLRecord, { typeName: "shape" }>;

export class Window {
  readonly room: Drawing;
  readonly store = new Store<TLRecord, TLStoreProps>({
    schema: schema as never,
    props: { defaultName: "", assets: {}, users: {}, onMount: () => {} } as never,
  });
  readonly refused: string[] = [];
  sync: DocumentSync | undefined;

  constructor(net: Simulation, name: string) {
    this.room = drawing.join(net.connect, "http://test", "drawing", { presence: { name } });
    // The tests break networks on purpose; without a listener each break is written to the console.
    this.room.room.on("error", () => {});
    this.room.room.once("synced", () => {
      this.sync = new DocumentSync(this.room, this.store as unknown as RecordStore, {
        isDocument: ({ typeName }) => this.store.scopedTypes.document.has(typeName as never),
        onRefused: ({ id }) => this.refused.push(id),
      });
    });
  }

  draw(id: string, x: number, color = "black"): void {
    const props = { geo: "rectangle", w: 100, h: 50, color };
    this.store.put([shape(id, x, props)]);
  }

  change(id: string, change: { readonly x?: number; readonly props?: object }): void {
    const now = this.store.get(`shape:${id}` as never) as unknown as Shape;
    this.store.put([{ ...now, ...change, props: { ...now.props, ...change.props } } as Shape]);
  }

  remove(id: string): void {
    this.store.remove([`shape:${id}` as never]);
  }

  /** The document as a text, equal in all windows in the end. */
  get document(): string {
    const records = Object.values(this.store.serialize("document")).toSorted((a, b) => a.id.localeCompare(b.id));
    return JSON.stringify(records, (_, value) =>
      value && typeof value === "object" && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => a.localeCompare(b)))
        : value,
    );
  }

  get shapes(): Record<string, { readonly x: number; readonly color: string }> {
    const all = this.store.allRecords().filter((record) => record.typeName === "shape") as unknown as {
      readonly id: string;
      readonly x: number;
      readonly props: { readonly color: string };
    }[];
    return Object.fromEntries(all.map(({ id, x, props }) => [id.slice(6), { x, color: props.color }]));
  }
}

/** A shape with all properties that tldraw 5.4 wants. */
function shape(id: string, x: number, props: object): Shape {
  return {
    ...{ id: `shape:${id}`, typeName: "shape", type: "geo", parentId: "page:page", index: "a1", x, y: 0 },
    ...{ rotation: 0, isLocked: false, opacity: 1, meta: {} },
    props: {
      ...{
        dash: "draw",
        growY: 0,
        url: "",
        scale: 1,
        flipX: false,
        flipY: false,
        labelColor: "black",
        fill: "none",
        size: "m",
        font: "draw",
      },
      ...{ align: "middle", verticalAlign: "middle", richText: { type: "doc", content: [] } },
      ...props,
    },
  } as unknown as Shape;
}
