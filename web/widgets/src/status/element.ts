/**
 * `<gw-status>`: the state of the connection, and whether all is saved; on a press the transport
 * and why it was chosen, or why there is no connection, and how much is unsaved. Attributes:
 * `room`; `guard` asks before a page is left that has unsaved changes.
 */

import type { Room } from "groupwire";
import { Widget, type Stops } from "../core/element.js";
import { listen } from "../core/listen.js";
import type { JoinedRoom } from "../core/room.js";
import { STATUS, type StatusTexts } from "../core/texts.js";
import { made, say, setPart } from "../shared/dom.js";
import { STYLES } from "./styles.js";

/**
 * Changes that wait for longer than this (ms) are shown, so that the words do not flicker at each
 * of them.
 */
const SHORT_MS = 250;

/**
 * Where a room is not stored, a change that waits for longer than this (ms) is shown: a round trip
 * takes less.
 */
const SLOW_MS = 1500;

/** Milliseconds between two looks at how much is unsaved, while anything is. */
const LOOK_MS = 250;

/** `<gw-status>`: the state of the connection, and whether all is saved. */
export class StatusLine extends Widget<StatusTexts> {
  static override readonly observedAttributes = ["room", "guard"];
  readonly #dot = made("span", "dot");
  readonly #text = made("span", "text");
  readonly #said = made("span", "said", "unseen");
  readonly #transport = made("strong", "transport");
  readonly #why = made("p", "why");
  readonly #unsaved = made("p", "unsaved");
  readonly #summary = made("summary", "summary", "", this.#dot, this.#text);
  readonly #details = made(
    "details",
    "box",
    "",
    this.#summary,
    made("div", "card", "", this.#transport, this.#why, this.#unsaved),
  );
  #waitsSince: number | undefined;
  #error = "";

  constructor() {
    super(STYLES, STATUS);
    this.#said.role = "status";
    this.#details.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !this.#details.open) return;
      event.stopPropagation();
      this.#details.open = false;
      this.#summary.focus();
    });
    this.root.append(this.#details, this.#said);
  }

  protected override begin(): Stops {
    this.#error = "";
    const close = (event: Event): void => {
      if (!event.composedPath().includes(this)) this.#details.open = false;
    };
    this.#show(undefined);
    return [listen(document, { pointerdown: close, focusin: close })];
  }

  protected override attach({ room }: JoinedRoom): Stops {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const show = (): void => {
      clearTimeout(timer);
      this.#show(room);
      // `room.subscribe` does not report each change of `pending`.
      if (room.pending > 0) timer = setTimeout(show, LOOK_MS);
    };
    const guard = (event: Event): void => {
      if (this.hasAttribute("guard") && room.pending > 0) event.preventDefault();
    };
    show();
    return [
      () => clearTimeout(timer),
      listen(window, { beforeunload: guard }),
      room.subscribe(show),
      room.on("pending", show),
      room.on("error", ({ fatal, message }) => {
        if (!fatal) return;
        this.#error = message;
        show();
      }),
    ];
  }

  #show(room: Room | undefined): void {
    const { words } = this;
    const { status = "connecting", pending = 0, transport, problem } = room ?? {};
    const reason = this.#error || problem?.message || transport?.why;
    const text = this.#textOf(room);
    setPart(this.#dot, "dot", status);
    say(this.#text, text);
    // Texts that follow each change for a moment are not read out.
    if (text !== words.saving && text !== words.sending) say(this.#said, text);
    say(this.#transport, transport ? words.transport(transport.name) : "");
    say(this.#why, reason ? words.why(reason) : words.noTransport);
    say(this.#unsaved, pending > 0 ? words.unsaved(pending) : words.nothingUnsaved);
  }

  #textOf(room: Room | undefined): string {
    const { words } = this;
    const { status = "connecting", pending = 0, durability = "memory", problem } = room ?? {};
    const now = performance.now();
    this.#waitsSince = pending > 0 ? (this.#waitsSince ?? now) : undefined;
    const waited = now - (this.#waitsSince ?? now);
    if (problem && status !== "closed") return words.problem(problem, status === "reconnecting");
    if (status !== "connected") return words[status];
    if (durability === "memory") return waited > SLOW_MS ? words.sending : words.connected;
    return waited > SHORT_MS ? words.saving : words.saved;
  }
}
