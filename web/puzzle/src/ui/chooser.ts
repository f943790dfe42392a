/** The dialog for a new puzzle: the picture and the number of pieces. */

import { button, make } from "../../../common/ui/dom";
import { PICTURES, pieceCount, type Picture, SIZES, type Spec } from "../model/spec";
import { PICTURE_LABELS, paintPicture } from "../pictures";

const THUMB = 360;

export interface ChooserOptions {
  /** The current puzzle, and a note about giving it up. */
  present(): { readonly spec: Spec; readonly note: string };
  start(spec: Spec): void;
}

export function makeChooser({ present, start }: ChooserOptions): () => void {
  let picture: Picture = PICTURES[0];
  let size = 1;
  let seeds = new Map<Picture, number>();

  const dialog = make("dialog", "help chooser");
  dialog.ariaLabel = "New puzzle";
  dialog.dataset.testid = "chooser";
  const head = make("div", "help-head");
  head.append(
    make("h2", "", "New puzzle"),
    button({ icon: "close", label: "Close", testid: "chooser-close", onPress: () => dialog.close() }),
  );

  const pictures = group("Picture", "pictures");
  const pictureButtons = PICTURES.map((name) => {
    const element = choice("picture", `picture-${name}`, () => {
      picture = name;
      update();
    });
    element.append(make("span", "", PICTURE_LABELS[name]));
    pictures.append(element);
    return element;
  });

  const sizes = group("Pieces", "sizes");
  const sizeButtons = SIZES.map(([columns, rows], i) => {
    const element = choice("size", `size-${columns * rows}`, () => {
      size = i;
      update();
    });
    element.textContent = String(columns * rows);
    sizes.append(element);
    return element;
  });

  const note = make("p", "help-note");
  const go = make("button", "primary", "Start for everybody");
  go.type = "button";
  go.dataset.testid = "start";
  go.addEventListener("click", () => {
    const [columns, rows] = SIZES[size] ?? [6, 4];
    dialog.close();
    start({ picture, seed: seeds.get(picture) ?? 0, columns, rows });
  });
  const foot = make("div", "chooser-foot");
  foot.append(note, go);
  dialog.append(head, pictures, make("h3", "", "Pieces"), sizes, foot);
  // A press beside the dialog closes it.
  dialog.addEventListener("click", ({ target }) => {
    if (target === dialog) dialog.close();
  });
  document.body.append(dialog);

  function update(): void {
    pictureButtons.forEach((element, i) => (element.ariaPressed = String(PICTURES[i] === picture)));
    sizeButtons.forEach((element, i) => (element.ariaPressed = String(i === size)));
  }

  function open(): void {
    const { spec, note: words } = present();
    seeds = new Map(PICTURES.map((name) => [name, randomSeed()]));
    pictureButtons.forEach((element, i) => {
      const name = PICTURES[i] ?? PICTURES[0];
      element.querySelector("canvas")?.remove();
      element.prepend(paintPicture({ picture: name, seed: seeds.get(name) ?? 0 }, THUMB));
    });
    // Suggests the next picture with the same number of pieces.
    picture = PICTURES[(PICTURES.indexOf(spec.picture) + 1) % PICTURES.length] ?? PICTURES[0];
    const known = SIZES.findIndex(([columns, rows]) => columns * rows === pieceCount(spec));
    size = known < 0 ? 1 : known;
    note.textContent = words;
    update();
    dialog.showModal();
    go.focus({ preventScroll: true });
  }

  return () => (dialog.open ? dialog.close() : open());
}

function group(label: string, className: string): HTMLElement {
  const element = make("div", className);
  element.role = "group";
  element.ariaLabel = label;
  return element;
}

function choice(className: string, testid: string, onPress: () => void): HTMLButtonElement {
  const element = make("button", `choice ${className}`);
  element.type = "button";
  element.dataset.testid = testid;
  element.addEventListener("click", onPress);
  return element;
}

function randomSeed(): number {
  return crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
}
