/** The part of tldraw's store that the adapter uses. Other stores of records can have it, too. */

import type { StoredRecord } from "./fields";

export interface RecordStore {
  get(id: string): StoredRecord | undefined;
  allRecords(): readonly StoredRecord[];
  put(records: readonly StoredRecord[]): void;
  remove(ids: readonly string[]): void;
  /** Applies changes of others, which are not the user's own and cannot be undone here. */
  mergeRemoteChanges(change: () => void): void;
  /** Calls the listener when the user has changed records. Returns a function that ends it. */
  listen(
    listener: (entry: { readonly changes: Changes }) => void,
    filters: { readonly source: "user"; readonly scope: "document" },
  ): () => void;
}

/** Records that were changed, by their ids. */
export interface Changes {
  readonly added: Readonly<Record<string, unknown>>;
  readonly updated: Readonly<Record<string, unknown>>;
  readonly removed: Readonly<Record<string, unknown>>;
}
