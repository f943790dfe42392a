/** The snapshots to which a stored room can be restored. */

import { button, h } from "../shared/dom.js";
import type { Actions } from "./actions.js";
import type { Requests, Snapshot } from "./requests.js";
import { Table } from "./table.js";
import { date, size } from "./units.js";

const AFTERWARDS = "Participants are disconnected, and come back to it.";

export class SnapshotsView {
  readonly element = h("section", "card");
  private readonly table: Table<Snapshot>;
  private room = "";

  constructor(private readonly actions: Actions) {
    // The row's key depends on `is_newest`, because a snapshot that is no longer the newest gets a
    // button.
    const key = ({ snapshot, is_newest }: Snapshot) => `${snapshot} ${is_newest}`;
    this.table = new Table<Snapshot>("Snapshots", this.columns(), key);
    this.element.dataset.testid = "snapshots";
    this.element.append(h("h2", "", "Snapshots"), this.table.element);
  }

  /** Asks the server for the snapshots of a stored room. */
  async poll(room: string): Promise<void> {
    this.room = room;
    const snapshots = await this.actions.requests.snapshots(room);
    if (room === this.room) this.table.show([...snapshots].reverse(), "No snapshot is stored yet.");
  }

  private columns() {
    return [
      { title: "Taken", cell: ({ taken }: Snapshot) => date(taken) },
      { title: "Part", cell: ({ part, is_reset }: Snapshot) => (is_reset ? "reset" : part || "whole room") },
      { title: "Up to", isNumber: true, isMinor: true, cell: ({ as_of }: Snapshot) => String(as_of) },
      { title: "Size", isNumber: true, cell: ({ bytes }: Snapshot) => size(bytes) },
      { title: "", cell: (snapshot: Snapshot) => h("span", "row-actions", this.action(snapshot)) },
    ];
  }

  private action(snapshot: Snapshot): HTMLElement | string {
    const { taken, is_reset, is_newest, as_of } = snapshot;
    // A room cannot go back to before its first position.
    if (is_reset && as_of < 2) return "";
    if (!is_reset && is_newest) return "newest";
    const restore = is_reset
      ? button("small", "Undo…", () => void this.undo(snapshot))
      : button("small", "Restore…", () => void this.restore(snapshot));
    restore.ariaLabel = is_reset ? `Undo the reset at ${as_of}` : `Restore the snapshot of ${date(taken)}`;
    return restore;
  }

  private async restore({ snapshot, taken }: Snapshot): Promise<void> {
    const title = `Restore the snapshot of ${date(taken)}?`;
    const text = `It is the newest one again, and the transactions after it are used again. ${AFTERWARDS}`;
    await this.goBack({ snapshot }, title, text, `The snapshot of ${date(taken)} is restored.`);
  }

  private async undo({ as_of }: Snapshot): Promise<void> {
    const position = as_of - 1;
    const text = `The room goes back to position ${position}: the reset and everything after it, in all channels, is lost. ${AFTERWARDS}`;
    await this.goBack({ position }, "Undo the reset?", text, `The room is back at position ${position}.`);
  }

  private async goBack(
    to: Parameters<Requests["restore"]>[1],
    title: string,
    text: string,
    done: string,
  ): Promise<void> {
    const { requests, ask, attempt } = this.actions;
    const room = this.room;
    if (!(await ask({ title, text, action: "Go back", name: room }))) return;
    await attempt(requests.restore(room, to), done);
  }
}
