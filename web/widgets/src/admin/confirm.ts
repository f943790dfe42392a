/** Questions before something that cannot be undone. */

import { button, h } from "../shared/dom.js";

export interface Question {
  readonly title: string;
  readonly text: string;
  /** What the button says that does it. */
  readonly action: string;
  /** What has to be written before that button can be pressed. */
  readonly name?: string;
}

/** Asks; the answer is true if the person wants it. */
export function ask(root: ParentNode & Node, question: Question): Promise<boolean> {
  const { title, text, action, name } = question;
  const dialog = h("dialog", "question");
  dialog.ariaLabel = title;
  const input = h("input");
  input.autocomplete = "off";
  input.spellcheck = false;
  const accept = h("button", "danger", action);
  accept.type = "submit";
  accept.value = "yes";
  accept.dataset.testid = "accept";
  accept.disabled = name !== undefined;
  input.addEventListener("input", () => (accept.disabled = input.value !== name));
  const label = name === undefined ? undefined : h("label", "", "Write ", h("code", "", name), " to go on", input);
  const cancel = button("quiet", "Cancel", () => dialog.close());
  const form = h("form", "", h("h2", "", title), h("p", "", text), label, h("div", "answers", cancel, accept));
  form.method = "dialog";
  dialog.append(form);
  root.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
  });
}
