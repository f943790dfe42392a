/** The sliders of the network between each window and the server. */

import type { NetworkConditions } from "groupwire/testing/page";
import { h, newId } from "./dom.js";

/** Bytes per second, from no limit to a very thin link. */
const RATES = [Infinity, 64_000, 16_000, 8000, 4000, 2000, 1000];

interface Slider {
  readonly label: string;
  readonly most: number;
  readonly step: number;
  read(conditions: NetworkConditions): number;
  write(value: number): NetworkConditions;
  text(value: number): string;
}

const SLIDERS: readonly Slider[] = [
  {
    label: "Lost packets",
    most: 40,
    step: 5,
    read: ({ loss = 0 }) => Math.round(loss * 100),
    write: (value) => ({ loss: value / 100 }),
    text: (value) => `${value} %`,
  },
  {
    label: "Delay, one way",
    most: 300,
    step: 10,
    read: ({ delay = 0 }) => delay,
    write: (value) => ({ delay: value }),
    text: (value) => `${value} ms`,
  },
  {
    label: "Bandwidth",
    most: RATES.length - 1,
    step: 1,
    read: ({ rate = Infinity }) => Math.max(0, RATES.indexOf(rate)),
    write: (value) => ({ rate: RATES[value] ?? Infinity }),
    text: (value) => (value === 0 ? "no limit" : `${(RATES[value] ?? 0) / 1000} KB/s`),
  },
];

export interface NetworkControls {
  readonly element: HTMLElement;
  /** Shows the conditions with which a simulation begins. */
  start(conditions: NetworkConditions): void;
}

/** `change` is called with the conditions that a slider has changed. */
export function networkControls(change: (conditions: NetworkConditions) => void): NetworkControls {
  const made = SLIDERS.map((slider) => makeSlider(slider, change));
  const rows = made.map(({ row }) => row);
  return {
    element: h("fieldset", { class: "network" }, h("legend", {}, "Network of each window"), ...rows),
    start: (conditions) => made.forEach(({ set }, at) => set(SLIDERS[at]?.read(conditions) ?? 0)),
  };
}

function makeSlider(
  { label, most, step, write, text }: Slider,
  change: (conditions: NetworkConditions) => void,
): { row: HTMLElement; set: (value: number) => void } {
  const id = newId("slider");
  const input = h("input", { id, type: "range", min: 0, max: most, step, value: 0 });
  const shown = h("output", { for: id });
  const show = (): void => {
    shown.value = text(input.valueAsNumber);
    input.setAttribute("aria-valuetext", shown.value);
  };
  input.addEventListener("input", () => {
    show();
    change(write(input.valueAsNumber));
  });
  return {
    row: h("div", { class: "slider" }, h("label", { for: id }, label), shown, input),
    set: (value) => {
      input.valueAsNumber = value;
      show();
    },
  };
}
