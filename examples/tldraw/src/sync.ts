/**
 * Keeps the document of a store and the records of a room alike. Both directions compare records
 * instead of repeating events, so the next comparison repairs whatever was missed or delayed.
 */

import { difference, fieldsOf, recordOf, type StoredRecord } from "./fields";
import type { Drawing } from "./room";
import type { Changes, RecordStore } from "./store";

/** Milliseconds between two operations: a drag makes 20 a second, whatever the screen's rate is. */
const PACE = 50;

export interface SyncOptions {
  /** Which records belong to the document; others are of this window alone. */
  readonly isDocument: (record: StoredRecord) => boolean;
  /** Called with a record of somebody else that the store does not take. */
  readonly onRefused?: (record: StoredRecord, error: unknown) => void;
}

export class DocumentSync {
  /** Ids of records that the user has changed, and that the room does not have yet. */
  readonly #changed = new Set<string>();
  readonly #stops: (() => void)[];
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Call it when the room has its state (`synced`). */
  constructor(
    readonly room: Drawing,
    readonly store: RecordStore,
    readonly options: SyncOptions,
  ) {
    this.#begin();
    this.#stops = [
      store.listen(({ changes }) => this.#note(changes), { source: "user", scope: "document" }),
      room.shared.records.subscribe((keys) => this.#take(keys)),
    ];
  }

  stop(): void {
    this.#give();
    for (const stop of this.#stops) stop();
  }

  /** Takes the room's document, and adds to it the records that only the store has. */
  #begin(): void {
    const { records } = this.room.shared;
    // After this, tldraw's store also makes the records that every document needs, such as a page.
    this.#take(records.value.keys());
    for (const record of this.store.allRecords()) {
      if (this.options.isDocument(record) && !records.get(record.id)) this.#changed.add(record.id);
    }
    this.#give();
  }

  #note({ added, updated, removed }: Changes): void {
    for (const id of Object.keys({ ...added, ...updated, ...removed })) this.#changed.add(id);
    this.#timer ??= setTimeout(() => this.#give(), PACE);
  }

  /** Sends the records that the user has changed: of each only the fields that differ. */
  #give(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const ids = [...this.#changed];
    this.#changed.clear();
    // On a room that is closed nothing can be changed.
    if (ids.length === 0 || this.room.room.status === "closed") return;
    const { records } = this.room.shared;
    this.room.shared.batch(() => {
      for (const id of ids) {
        const [local, remote] = [this.store.get(id), records.get(id)];
        if (!local) records.delete(id);
        else if (!remote) records.set(id, fieldsOf(local) as typeof remote & object);
        else {
          const changed = difference(remote, fieldsOf(local));
          if (Object.keys(changed).length > 0) records.patch(id, changed);
        }
      }
    });
  }

  /**
   * Takes records of the room into the store. Those that the user has just changed are sent first.
   */
  #take(ids: Iterable<string>): void {
    const { records } = this.room.shared;
    if (this.#changed.size > 0) this.#give();
    this.store.mergeRemoteChanges(() => {
      for (const id of ids) {
        const [local, remote] = [this.store.get(id), records.get(id)];
        if (!remote) {
          if (local) this.store.remove([id]);
        } else if (!local || Object.keys(difference(fieldsOf(local), remote)).length > 0) {
          this.#put(recordOf(remote));
        }
      }
    });
  }

  #put(record: StoredRecord): void {
    try {
      this.store.put([record]);
    } catch (error) {
      this.options.onRefused?.(record, error);
    }
  }
}
