/** A document with its subdocuments, each of which has a channel of its own. */

import type { ChannelOptions, Room } from "groupwire";
import type * as Y from "yjs";
import { DocumentSync } from "./document.js";
import { take } from "./held.js";

/** What all documents of a provider have in common. */
export interface Common {
  readonly room: Room;
  /** The name of the channel of the root document. */
  readonly name: string;
  readonly qos: Partial<ChannelOptions>;
  readonly origin: unknown;
  readonly changed: () => void;
  readonly reset: () => void;
}

export class Tree {
  readonly #common: Common;
  readonly #doc: Y.Doc;
  readonly #children = new Map<Y.Doc, Tree>();
  readonly #sync: DocumentSync;
  #wasSynced = false;

  constructor(common: Common, doc: Y.Doc, name: string) {
    this.#common = common;
    this.#doc = doc;
    const { room, qos, origin, reset } = common;
    this.#sync = take(room, name, () => new DocumentSync(room, name, qos));
    this.#sync.attach(doc, origin, { changed: () => this.#changed(), reset });
    doc.on("subdocs", this.#follow);
    for (const subdoc of doc.getSubdocs()) if (subdoc.shouldLoad) this.#add(subdoc);
  }

  get isSynced(): boolean {
    return this.#sync.isSynced;
  }

  /** True if the room has all changes of these documents. */
  get isSaved(): boolean {
    return this.#sync.isSaved && [...this.#children.values()].every(({ isSaved }) => isSaved);
  }

  get isReadOnly(): boolean {
    return this.#sync.isReadOnly;
  }

  /** Ends it, and closes its channels. */
  stop(): void {
    this.#doc.off("subdocs", this.#follow);
    for (const child of this.#children.values()) child.stop();
    this.#children.clear();
    this.#sync.detach();
    if (this.#wasSynced) this.#doc.emit("sync", [false, this.#doc]);
  }

  readonly #follow = ({ loaded, removed }: { readonly loaded: Set<Y.Doc>; readonly removed: Set<Y.Doc> }): void => {
    for (const doc of removed) this.#remove(doc);
    for (const doc of loaded) this.#add(doc);
  };

  #add(doc: Y.Doc): void {
    // Yjs makes several of one guid if a subdocument is copied. The first is the one that is
    // synchronised.
    if ([...this.#children.keys()].some(({ guid }) => guid === doc.guid)) return;
    this.#children.set(doc, new Tree(this.#common, doc, `${this.#common.name}/doc/${doc.guid}`));
  }

  #remove(doc: Y.Doc): void {
    this.#children.get(doc)?.stop();
    this.#children.delete(doc);
    this.#common.changed();
  }

  #changed(): void {
    const { isSynced } = this;
    if (isSynced !== this.#wasSynced) {
      this.#wasSynced = isSynced;
      // The document's own property `isSynced` and promise `whenSynced` follow this event.
      this.#doc.emit("sync", [isSynced, this.#doc]);
    }
    this.#common.changed();
  }
}
