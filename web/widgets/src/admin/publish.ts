/** A form that publishes a message of the room itself. */

import { h } from "../shared/dom.js";
import type { Actions } from "./actions.js";
import type { Channel, Publication } from "./requests.js";

export class PublishForm {
  readonly element = h("form", "publish");
  private readonly text = h("textarea");
  private readonly key = h("input");
  private readonly keyLabel = h("label", "", "Key ", this.key);
  private readonly submit = h("button", "quiet", "Publish");
  private room = "";
  private channel = "";
  /**
   * Names what is tried, until it is published or changed, so that trying again publishes nothing
   * twice.
   */
  private attempt = crypto.randomUUID();

  constructor(private readonly actions: Actions) {
    this.element.dataset.testid = "publish";
    this.text.rows = 2;
    this.text.spellcheck = false;
    this.text.placeholder = "A message of the room itself, as text";
    this.text.ariaLabel = "Message";
    this.submit.type = "submit";
    this.element.append(this.text, h("div", "answers", this.keyLabel, this.submit));
    this.element.addEventListener("input", () => this.change());
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.publish();
    });
    this.change();
  }

  /**
   * Hides the form until {@link show}: a message that somebody writes meanwhile would be for the
   * channel that was shown before.
   */
  hide(): void {
    this.element.hidden = true;
  }

  /** Shows the form for a channel. */
  show(room: string, { name, kind }: Channel): void {
    this.element.hidden = false;
    this.keyLabel.hidden = kind !== "awareness";
    if (room === this.room && name === this.channel) return;
    [this.room, this.channel] = [room, name];
    this.text.value = "";
    this.key.value = "";
    this.change();
  }

  private change(): void {
    this.attempt = crypto.randomUUID();
    this.submit.disabled = this.text.value === "";
  }

  private async publish(): Promise<void> {
    const { requests, attempt } = this.actions;
    const key = this.keyLabel.hidden || this.key.value === "" ? {} : { key: this.key.value };
    const message: Publication = { text: this.text.value, ...key };
    this.submit.disabled = true;
    const published = requests.publish(this.room, this.channel, message, this.attempt).then(() => true);
    const isDone = await attempt(published, `Published in “${this.channel}”.`);
    if (isDone) {
      this.text.value = "";
      this.change();
    } else {
      this.submit.disabled = false;
    }
  }
}
