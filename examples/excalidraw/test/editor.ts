/** An editor without a picture, and windows in a simulated room. */

import { simulate, type Simulation, type SimulationOptions } from "groupwire/testing";
import { afterEach } from "vitest";
import type { Element } from "../src/elements";
import type { Collaborator, Editor, EditorState, SceneChange } from "../src/excalidraw";
import { People } from "../src/people";
import { drawing, type Drawing } from "../src/room";
import { SceneSync } from "../src/sync";

export class FakeEditor implements Editor {
  elements: readonly Element[] = [];
  state: Omit<EditorState, "collaborators"> = {
    selectedElementIds: {},
    scrollX: 0,
    scrollY: 0,
    width: 800,
    height: 600,
    zoom: { value: 1 },
  };
  collaborators: ReadonlyMap<string, Collaborator> = new Map();
  followedBy: ReadonlySet<string> = new Set();
  /**
   * False once `updateScene` ends the following. Excalidraw begins it; tests call `People.follow`
   * instead.
   */
  isFollowing = true;
  readonly shown: (readonly number[])[] = [];
  readonly toasts: string[] = [];
  /** The `captureUpdate` of each update of the scene. */
  readonly captures: string[] = [];

  getSceneElementsIncludingDeleted = (): readonly Element[] => this.elements;
  getAppState = (): EditorState => ({ ...this.state, collaborators: this.collaborators });
  setToast = ({ message }: { readonly message: string }): void => void this.toasts.push(message);
  restore = (elements: readonly Element[]): readonly Element[] => elements.filter(({ type }) => type !== "unknown");
  show = (bounds: readonly number[]): void => void this.shown.push(bounds);
  updateScene({ elements, collaborators, appState, captureUpdate }: SceneChange): void {
    if (elements) {
      this.elements = elements;
      this.captures.push(captureUpdate);
    }
    if (collaborators) this.collaborators = collaborators;
    if (appState?.followedBy) this.followedBy = appState.followedBy;
    if (appState?.userToFollow === null) this.isFollowing = false;
  }

  /** The scene as a text: ids, versions, and what is deleted, from back to front. */
  get scene(): string {
    return this.elements.map(({ id, version, isDeleted }) => `${isDeleted ? "-" : ""}${id}${version}`).join(" ");
  }
}

/** A window: an editor in the room. */
export class Window {
  readonly editor = new FakeEditor();
  readonly room: Drawing;
  readonly sync: SceneSync;
  readonly people: People;

  constructor(net: Simulation, name: string) {
    const me = { name };
    this.room = drawing.join(net.connect, "http://test", "drawing", { presence: me });
    this.sync = new SceneSync(this.room, this.editor);
    this.people = new People(this.room, this.editor, me);
  }

  get id(): number {
    return this.room.room.self?.id ?? 0;
  }

  /** Changes an element in place, as Excalidraw does, or adds it. */
  draw(id: string, change: Partial<Element> = {}, versionNonce = 1): void {
    const known = this.editor.elements.find((element) => element.id === id);
    if (known) Object.assign(known, { version: known.version + 1, versionNonce, ...change });
    else {
      const element = { id, type: "rectangle", version: 1, versionNonce, isDeleted: false, index: `a${id}`, ...change };
      this.editor.elements = [...this.editor.elements, element];
    }
    this.sync.changed();
  }
}

let net: Simulation | undefined;
afterEach(() => net?.end());

export function start(options: SimulationOptions = {}): Simulation {
  return (net = simulate({ seed: 1, fakeTimers: true, ...options }));
}

/** Some windows that are connected. */
export async function open(net: Simulation, ...names: string[]): Promise<Window[]> {
  const windows = names.map((name) => new Window(net, name));
  await net.settle();
  return windows;
}
