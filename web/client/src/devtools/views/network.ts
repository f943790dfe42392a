/** The tab with the switch for bad networks. */

import { h, say } from "../dom.js";
import { AS_IT_IS, type Conditions, type Network } from "../network.js";
import type { View } from "./view.js";

/** Networks to choose from. */
const PRESETS: readonly (readonly [name: string, conditions: Conditions])[] = [
  ["As it is", AS_IT_IS],
  ["Mobile: 100 ms, 1 % loss", { loss: 0.01, delay: 100, isOffline: false }],
  ["Bad: 250 ms, 10 % loss", { loss: 0.1, delay: 250, isOffline: false }],
  ["Offline", { loss: 0, delay: 0, isOffline: true }],
];

const MOST_LOSS = 50;
const MOST_DELAY_MS = 1000;

export class NetworkView implements View {
  readonly title = "Network";
  readonly #presets = PRESETS.map(([name, conditions]) => {
    const input = h("input");
    input.type = "radio";
    input.name = "preset";
    input.addEventListener("input", () => (this.network.conditions = conditions));
    return { input, conditions, element: h("label", "choice", input, ` ${name}`) };
  });
  readonly #loss = slider("Loss in each direction", MOST_LOSS, "%", () => this.#slide());
  readonly #delay = slider("Delay in each direction", MOST_DELAY_MS, "ms", () => this.#slide());
  readonly element: HTMLElement;

  constructor(readonly network: Network) {
    const choices = h("fieldset", "", h("legend", "", "The network of this page"));
    choices.append(...this.#presets.map(({ element }) => element));
    const hint =
      "Only the rooms of this page that the devtools watch are slowed, between the client and its transport. " +
      "A lost datagram does not arrive; what a stream loses is sent again and arrives late.";
    this.element = h("div", "network", choices, this.#loss.element, this.#delay.element, h("p", "quiet", hint));
  }

  get mark(): string {
    const { loss, delay, isOffline } = this.network.conditions;
    return isOffline ? "offline" : loss > 0 || delay > 0 ? "worse" : "";
  }

  show(): void {
    const { loss, delay, isOffline } = this.network.conditions;
    for (const { input, conditions } of this.#presets) {
      input.checked =
        conditions.isOffline === isOffline && (isOffline || (conditions.loss === loss && conditions.delay === delay));
    }
    this.#loss.show(Math.round(loss * 100));
    this.#delay.show(delay);
  }

  #slide(): void {
    const { isOffline } = this.network.conditions;
    this.network.conditions = { isOffline, loss: this.#loss.value() / 100, delay: this.#delay.value() };
  }
}

function slider(name: string, max: number, unit: string, changed: () => void) {
  const input = h("input");
  const value = h("output");
  Object.assign(input, { type: "range", min: "0", max: `${max}`, step: max > 100 ? "10" : "1" });
  input.addEventListener("input", changed);
  return {
    element: h("label", "slider", h("span", "", name), input, value),
    value: () => Number(input.value),
    show: (now: number): void => {
      if (input.value !== `${now}`) input.value = `${now}`;
      say(value, `${now} ${unit}`);
    },
  };
}
