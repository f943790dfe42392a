/** The part of a text editor that a page shows: the same before and after. */

import type * as Y from "yjs";

export interface Editor {
  readonly text: Y.Text;
  /** The names of the others who edit, as their awareness tells. */
  readonly others: readonly string[];
  /** True if the server has confirmed all changes; undefined if nobody can tell. */
  readonly isSaved: boolean | undefined;
  leave(): void;
}
