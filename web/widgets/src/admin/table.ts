/**
 * Tables whose rows are changed in place, so that focus and selection stay while they are polled.
 */

import { h, say, scrollable } from "../shared/dom.js";

export interface Column<T> {
  readonly title: string;
  /** A text, or an element that is made once for each row. */
  readonly cell: (row: T) => string | HTMLElement;
  readonly isNumber?: boolean;
  /** True if a narrow window has no place for the column. */
  readonly isMinor?: boolean;
}

export class Table<T> {
  readonly element: HTMLElement;
  private readonly body = h("tbody");
  private readonly none = h("p", "empty");
  private readonly table = h("table");
  private readonly rows = new Map<string, HTMLTableRowElement>();

  constructor(
    caption: string,
    private readonly columns: readonly Column<T>[],
    private readonly keyOf: (row: T) => string,
  ) {
    const head = columns.map((column) => {
      // A column of buttons has no title.
      if (column.title === "") return h("td", classOf(column));
      const cell = h("th", classOf(column), column.title);
      cell.scope = "col";
      return cell;
    });
    const title = h("caption", "hidden", caption);
    this.table.append(title, h("thead", "", h("tr", "", ...head)), this.body);
    this.element = scrollable(h("div", "scroll", this.table, this.none), caption);
  }

  /** Shows rows; without any the text. */
  show(rows: readonly T[], none: string): void {
    const keys = new Set(rows.map(this.keyOf));
    for (const [key, row] of this.rows) {
      if (keys.has(key)) continue;
      row.remove();
      this.rows.delete(key);
    }
    for (const [at, one] of rows.entries()) {
      const row = this.row(one);
      if (this.body.children[at] !== row) this.body.insertBefore(row, this.body.children[at] ?? null);
    }
    this.table.hidden = rows.length === 0;
    this.none.hidden = rows.length > 0;
    say(this.none, none);
  }

  private row(one: T): HTMLTableRowElement {
    const key = this.keyOf(one);
    const known = this.rows.get(key);
    const row = known ?? h("tr", "", ...this.columns.map((column) => h("td", classOf(column))));
    this.rows.set(key, row);
    for (const [i, { cell }] of this.columns.entries()) {
      const place = row.children[i];
      if (!place) continue;
      const content = known && place.firstElementChild ? undefined : cell(one);
      if (typeof content === "string") say(place, content);
      else if (content) place.replaceChildren(content);
    }
    return row;
  }
}

function classOf<T>({ isNumber, isMinor }: Column<T>): string {
  return [isNumber ? "number" : "", isMinor ? "minor" : ""].join(" ").trim();
}
