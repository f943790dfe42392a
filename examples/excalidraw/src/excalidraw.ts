/** The parts of Excalidraw that the adapter uses. Tests have others in their place. */

import type { Element } from "./elements";

/** The parts of the editor's state that are used. */
export interface EditorState {
  readonly editingTextElement?: { readonly id: string } | null;
  readonly resizingElement?: { readonly id: string } | null;
  readonly newElement?: { readonly id: string } | null;
  readonly selectedElementIds: Readonly<Record<string, unknown>>;
  readonly scrollX: number;
  readonly scrollY: number;
  readonly width: number;
  readonly height: number;
  readonly zoom: { readonly value: number };
  readonly collaborators: ReadonlyMap<unknown, unknown>;
}

export interface Collaborator {
  readonly username: string;
  readonly selectedElementIds: Readonly<Record<string, true>>;
  readonly pointer?: { readonly x: number; readonly y: number; readonly tool: "pointer" | "laser" };
  readonly button: "up" | "down";
  readonly id: string;
  readonly socketId: string;
}

/**
 * The argument of `updateScene`. `NEVER`: the change comes from another user, so this user cannot
 * undo it.
 */
export interface SceneChange {
  readonly elements?: readonly Element[];
  readonly collaborators?: ReadonlyMap<string, Collaborator>;
  /** `userToFollow` null: nobody is followed any more. */
  readonly appState?: { readonly followedBy?: ReadonlySet<string>; readonly userToFollow?: null };
  readonly captureUpdate: "NEVER";
}

/** Excalidraw's imperative interface, and two functions of its package. */
export interface Editor {
  getSceneElementsIncludingDeleted(): readonly Element[];
  getAppState(): EditorState;
  updateScene(change: SceneChange): void;
  setToast(toast: { readonly message: string }): void;
  /** Makes valid elements of what others sent: `restoreElements`. */
  restore(elements: readonly Element[]): readonly Element[];
  /** Shows a part of the scene: `zoomToFitBounds`. */
  show(bounds: readonly [number, number, number, number]): void;
}
