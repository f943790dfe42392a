/** The others in the editor: their names, pointers and selections, and whose view is followed. */

import { follow, type Follow } from "groupwire/motion";
import type { Collaborator, Editor } from "./excalidraw";
import { Pointer, View, type Drawing, type Person } from "./room";

/** A selection with more elements is not shown whole. */
const SELECTED = 200;

export class People {
  #me: Person;
  #sentView = "";
  readonly #views = new Map<number, View>();
  /** The buttons of each pointer. */
  readonly #buttons = new Map<number, readonly [pressed: boolean, laser: boolean]>();
  readonly #pointers: Follow;
  readonly #stops: (() => void)[];

  constructor(
    readonly room: Drawing,
    readonly editor: Editor,
    me: Person,
  ) {
    this.#me = me;
    const { pointer, view } = room.channels;
    this.#pointers = follow(room.room, pointer.channel, {
      read: (message) => {
        const [x, y, ...buttons] = Pointer.parse(message.json());
        this.#buttons.set(message.sender, buttons);
        return [x, y];
      },
      draw: () => this.#show(),
    });
    this.#stops = [
      () => this.#pointers.stop(),
      view.on("message", ({ sender, value }) => {
        this.#views.set(sender, value);
        if (sender === this.#me.follows) this.editor.show(value.bounds);
        this.#show();
      }),
      room.room.on("participants", () => this.#changed()),
      room.room.on("gap", ({ reason }) => reason === "incarnation" && this.#forget()),
    ];
    this.#changed();
  }

  /** The own pointer has moved. */
  point(x: number, y: number, isPressed: boolean, isLaser: boolean): void {
    if (this.#isClosed) return;
    this.room.channels.pointer.send([rounded(x), rounded(y), isPressed, isLaser]);
  }

  /** Sends the own view and selection, if they have changed. */
  viewed(): void {
    const { scrollX, scrollY, width, height, zoom, selectedElementIds, collaborators } = this.editor.getAppState();
    // Excalidraw forgets the collaborators when it shows its first scene, which may be after they
    // were set.
    if (collaborators.size !== this.#present.length) this.#show();
    const [left, top] = [-scrollX, -scrollY];
    const bounds = [left, top, left + width / zoom.value, top + height / zoom.value].map(rounded) as View["bounds"];
    const selected = Object.keys(selectedElementIds)
      .filter((id) => selectedElementIds[id])
      .slice(0, SELECTED);
    const view = { bounds, selected };
    const text = JSON.stringify(view);
    if (text === this.#sentView || width === 0 || this.#isClosed) return;
    this.#sentView = text;
    this.room.channels.view.send(view);
  }

  /** Follows the view of a participant, or with undefined nobody's. */
  follow(id: number | undefined): void {
    this.#me = { ...this.#me, follows: id };
    this.room.setPresence(this.#me);
    const view = id === undefined ? undefined : this.#views.get(id);
    if (view) this.editor.show(view.bounds);
  }

  stop(): void {
    for (const stop of this.#stops) stop();
  }

  /** On a room that is closed nothing can be sent. */
  get #isClosed(): boolean {
    return this.room.room.status === "closed";
  }

  /**
   * After the server has lost the room, ids belong to other participants, also the id that this
   * user follows.
   */
  #forget(): void {
    this.#views.clear();
    this.#buttons.clear();
    this.#sentView = "";
    if (this.#me.follows === undefined) return;
    this.follow(undefined);
    this.editor.updateScene({ appState: { userToFollow: null }, captureUpdate: "NEVER" });
  }

  /** A participant has joined, left, or changed its presence. */
  #changed(): void {
    const { participants, room } = this.room;
    for (const known of [this.#views, this.#buttons]) {
      for (const id of known.keys()) if (!participants.has(id)) known.delete(id);
    }
    const followers = [...participants.values()].filter(({ presence }) => presence?.follows === room.self?.id);
    const followedBy = new Set(room.self ? followers.map(({ id }) => String(id)) : []);
    this.editor.updateScene({ appState: { followedBy }, captureUpdate: "NEVER" });
    this.#show();
  }

  /** The other participants that are not away. */
  get #present() {
    return [...this.room.participants.values()].filter(({ away }) => !away);
  }

  #show(): void {
    const places = new Map(this.#pointers.views().map(({ sender, place }) => [sender, place]));
    const collaborators = this.#present.map(
      ({ id, presence }) => [String(id), this.#collaborator(id, presence, places.get(id))] as const,
    );
    this.editor.updateScene({ collaborators: new Map(collaborators), captureUpdate: "NEVER" });
  }

  #collaborator(id: number, person: Person | undefined, place: readonly number[] | undefined): Collaborator {
    const [isPressed, isLaser] = this.#buttons.get(id) ?? [false, false];
    const [x, y] = place ?? [];
    return {
      username: person?.name ?? "Somebody",
      selectedElementIds: Object.fromEntries((this.#views.get(id)?.selected ?? []).map((id) => [id, true])),
      ...(x !== undefined && y !== undefined && { pointer: { x, y, tool: isLaser ? "laser" : "pointer" } }),
      button: isPressed ? "down" : "up",
      id: String(id),
      socketId: String(id),
    };
  }
}

/** Coordinates are rounded to tenths, which is exact enough for the eye. */
function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}
