/** Registers `<gw-demo>` and `<gw-playground>`. Their code is loaded when they come into view. */

import { Lazy } from "./lazy.js";

/** `<gw-demo kind="pointers">`; the kinds are the names in kinds.ts. */
class Demo extends Lazy {
  protected override async load(): Promise<() => void> {
    const { showDemo } = await import("./demo.js");
    return showDemo(this);
  }
}

/** `<gw-playground example="first-room">`; the examples are the files in examples/. */
class Playground extends Lazy {
  protected override async load(): Promise<() => void> {
    const { showPlayground } = await import("./playground/playground.js");
    return showPlayground(this);
  }
}

if (typeof customElements !== "undefined") {
  if (!customElements.get("gw-demo")) customElements.define("gw-demo", Demo);
  if (!customElements.get("gw-playground")) customElements.define("gw-playground", Playground);
}

declare global {
  interface HTMLElementTagNameMap {
    "gw-demo": Demo;
    "gw-playground": Playground;
  }
}
