/** `<gw-playground>`: code on the left, and on the right the windows in which it runs. */

import { play, simulate, type Room, type Simulation } from "groupwire/testing/page";
import { h, newId, setText } from "../dom.js";
import { networkControls } from "../network.js";
import { personAt, type Person } from "../people.js";
import { STYLE } from "../style.js";
import { followTheme } from "../theme.js";
import { Traffic } from "../traffic.js";
import { showEditor, type Editor } from "./editor.js";
import { EXAMPLES } from "./examples.js";
import { MODULES } from "./modules.js";
import { explain, run } from "./run.js";
import { PLAYGROUND_STYLE, WINDOW_STYLE } from "./style.js";

/** The windows in which the code runs. */
const WINDOWS = 2;

const REFRESH_MS = 300;

/** Shows the playground with the example that the attribute names. Returns how to end it. */
export async function showPlayground(host: HTMLElement): Promise<() => void> {
  const playground = new Playground(host);
  return () => playground.end();
}

class Playground {
  readonly #editor: Editor;
  readonly #stops: (() => void)[] = [];
  readonly #windows = h("div", { class: "windows" });
  readonly #problem = h("p", { class: "problem", role: "alert" });
  readonly #traffic = new Traffic();
  readonly #network = networkControls((conditions) => {
    this.#conditions = { ...this.#conditions, ...conditions };
    for (const name of this.#people.keys()) this.#net?.change(name, conditions);
  });
  #conditions = { delay: 20 };
  #net: Simulation | undefined;
  /**
   * The windows of the participants, by their names in the simulation: each call of `connect` makes
   * one.
   */
  readonly #people = new Map<string, string>();
  #stopPlaying = (): void => {};

  constructor(host: HTMLElement) {
    const shadow = host.shadowRoot ?? host.attachShadow({ mode: "open" });
    const wanted = host.getAttribute("example");
    const example = EXAMPLES.find(({ name }) => name === wanted) ?? EXAMPLES[0];
    const field = h("div", { class: "editor" });
    shadow.replaceChildren(h("style", {}, STYLE + PLAYGROUND_STYLE), this.#layOut(field, example?.name));
    this.#editor = showEditor(field, shadow, example?.code ?? "", () => this.#run());
    this.#stops.push(followTheme(host), this.#listen(), () => this.#editor.end());
    const timer = setInterval(() => this.#traffic.show(), REFRESH_MS);
    this.#stops.push(() => clearInterval(timer));
    this.#run();
  }

  end(): void {
    this.#finish();
    this.#stops.splice(0).forEach((stop) => stop());
  }

  #layOut(field: HTMLElement, example: string | undefined): HTMLElement {
    const [heading, choice] = [newId("title"), newId("example")];
    const options = EXAMPLES.map(({ name, title }) => h("option", { value: name, selected: name === example }, title));
    const select = h("select", { id: choice }, ...options);
    select.addEventListener("change", () => {
      this.#editor.setCode(EXAMPLES.find(({ name }) => name === select.value)?.code ?? "");
      this.#run();
    });
    return h(
      "section",
      { class: "demo", "aria-labelledby": heading },
      h(
        "header",
        {},
        h(
          "div",
          {},
          h("p", { id: heading, class: "title" }, "Playground"),
          h("p", { class: "hint" }, "The code runs once in each window. Change it, and press Run or Ctrl+Enter."),
        ),
        h(
          "div",
          { class: "tools" },
          h("label", { for: choice }, "Example"),
          select,
          h("button", { type: "button", class: "main", click: () => this.#run() }, "Run"),
        ),
      ),
      h("div", { class: "split" }, field, h("div", { class: "right" }, this.#problem, this.#windows)),
      h("div", { class: "panel" }, this.#network.element, this.#traffic.element),
      h(
        "p",
        { class: "foot" },
        "The server is in this page, so `connect` takes any address. Nothing leaves your browser.",
      ),
    );
  }

  /** Errors that listeners throw later. */
  #listen(): () => void {
    const onError = ({ error }: ErrorEvent): void => this.#tell(explain(error));
    const onRejection = ({ reason }: PromiseRejectionEvent): void => this.#tell(explain(reason));
    addEventListener("error", onError);
    addEventListener("unhandledrejection", onRejection);
    return () => {
      removeEventListener("error", onError);
      removeEventListener("unhandledrejection", onRejection);
    };
  }

  #run(): void {
    this.#finish();
    setText(this.#problem, "");
    try {
      this.#editor.check();
    } catch (error) {
      return this.#tell(explain(error, "the"));
    }
    const net = simulate({
      ...this.#conditions,
      seed: 1,
      onPacket: (packet) => this.#traffic.add({ ...packet, who: this.#people.get(packet.who) ?? packet.who }),
    });
    this.#net = net;
    this.#network.start(this.#conditions);
    const rooms: Room[] = [];
    const windows = Array.from({ length: WINDOWS }, (_, index) => showWindow(personAt(index)));
    this.#windows.replaceChildren(...windows.map(({ element }) => element));
    for (const { name, root } of windows) {
      const connect: Simulation["connect"] = (...all) => {
        const room = net.connect(...all);
        this.#people.set(nameAt(rooms.length), name);
        rooms.push(room as Room);
        this.#traffic.watch(rooms);
        room.on("error", ({ message }) => this.#tell(`The room says: ${message}.`));
        return room;
      };
      run(this.#editor.code, { name, root, connect, modules: MODULES }).catch((error: unknown) => {
        if (this.#net === net) this.#tell(explain(error, name));
      });
    }
    this.#stopPlaying = play(net);
  }

  #finish(): void {
    this.#stopPlaying();
    this.#net?.end();
    this.#net = undefined;
    this.#people.clear();
    this.#traffic.watch([]);
  }

  /** The first error is shown: others often follow from it. */
  #tell(text: string | undefined): void {
    if (text && !this.#problem.textContent) setText(this.#problem, text);
  }
}

/** The window of a person, in whose shadow root the code runs. */
function showWindow({ name, color }: Person): { name: string; element: HTMLElement; root: ShadowRoot } {
  const body = h("div", { class: "body" });
  const bar = h("div", { class: "bar" }, h("span", { class: "dot" }), h("strong", {}, name));
  const element = h("article", { class: "window", "aria-label": `${name}'s window` }, bar, body);
  element.style.setProperty("--person", color);
  const root = body.attachShadow({ mode: "open" });
  root.adoptedStyleSheets = [(sheet ??= windowSheet())];
  return { name, element, root };
}

/** The name that a simulation gives to the participant with this number. */
function nameAt(index: number): string {
  return index < 26 ? String.fromCharCode(97 + index) : `p${index + 1}`;
}

let sheet: CSSStyleSheet | undefined;

function windowSheet(): CSSStyleSheet {
  const made = new CSSStyleSheet();
  made.replaceSync(WINDOW_STYLE);
  return made;
}
