/**
 * Synchronises the scene of the editor with that of the room. Both directions compare versions
 * instead of following events, so the next comparison repairs whatever was missed, delayed or done
 * twice.
 */

import { inOrder, isNewer, type Element } from "./elements";
import type { Editor } from "./excalidraw";
import type { Drawing } from "./room";

/**
 * Milliseconds between two operations with own changes: a stroke grows by 20 operations a second.
 */
const PACE = 50;

/** The bytes of an operation must fit a message of 60,000, with what the shared data add to it. */
const LARGEST = 55_000;

export class SceneSync {
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Versions of elements that are too large for a message. */
  readonly #tooLarge = new Map<string, number>();
  readonly #stop: () => void;

  constructor(
    readonly room: Drawing,
    readonly editor: Editor,
  ) {
    this.#stop = room.shared.scene.subscribe(() => this.#take());
    this.#take();
  }

  /** The editor's elements may have changed. */
  changed(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#give();
      // Takes changes that arrived while an element was being edited.
      this.#take();
    }, PACE);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#stop();
  }

  /** Sends the elements that are newer in the editor. */
  #give(): void {
    const { scene } = this.room.shared;
    const newer = this.editor
      .getSceneElementsIncludingDeleted()
      .filter((element) => isNewer(element, scene.value[element.id]) && !this.#isTooLarge(element));
    // On a room that is closed nothing can be changed.
    if (newer.length === 0 || this.room.room.status === "closed") return;
    this.room.shared.batch(() => {
      // Copies, because Excalidraw changes its elements in place.
      for (const element of newer) scene.dispatch(copy(element));
    });
  }

  /**
   * Updates the editor with elements that are newer in the room, except elements that are being
   * edited: a stroke, a text or a size.
   */
  #take(): void {
    const { editingTextElement, resizingElement, newElement } = this.editor.getAppState();
    const edited = new Set([editingTextElement, resizingElement, newElement].map((element) => element?.id));
    const local = new Map(this.editor.getSceneElementsIncludingDeleted().map((element) => [element.id, element]));
    const newer = Object.values(this.room.shared.scene.value).filter(
      (element) => !edited.has(element.id) && isNewer(element, local.get(element.id)),
    );
    // The elements are in their order; otherwise Excalidraw would consider their indices invalid
    // and change them.
    const restored = this.editor.restore(inOrder(newer).map(copy));
    if (restored.length === 0) return;
    // The other elements stay the same objects, because one of them may be being edited.
    for (const element of restored) local.set(element.id, element);
    this.editor.updateScene({ elements: inOrder(local.values()), captureUpdate: "NEVER" });
  }

  #isTooLarge(element: Element): boolean {
    if (this.#tooLarge.get(element.id) === element.version) return true;
    const size = new TextEncoder().encode(JSON.stringify(element)).length;
    if (size <= LARGEST) return false;
    if (!this.#tooLarge.has(element.id)) {
      this.editor.setToast({
        message: "This is too large to be shared: others do not see it. Draw it in several parts.",
      });
    }
    this.#tooLarge.set(element.id, element.version);
    return true;
  }
}

function copy(element: Element): Element {
  return JSON.parse(JSON.stringify(element)) as Element;
}
