/** The controls of the emulated network: presets and two sliders. */

import { make } from "../../../common/ui/dom";
import type { Settings } from "./emulation";

const PRESETS: readonly (Settings & { readonly name: string })[] = [
  { name: "LAN", loss: 0, delay: 0 },
  { name: "WAN", loss: 0, delay: 48 },
  { name: "Lossy", loss: 3, delay: 20 },
  { name: "Bad Wi-Fi", loss: 5, delay: 40 },
];

const RANGES = {
  loss: { label: "Loss", most: 20, step: 0.5, say: (value: number) => `${value} %` },
  delay: { label: "Delay each way", most: 200, step: 1, say: (value: number) => `${value} ms` },
} as const;

type Name = keyof typeof RANGES;

export class Controls {
  readonly element = make("div", "compare-controls card");
  private readonly choice: readonly HTMLElement[];
  private readonly presets = new Map<HTMLButtonElement, Settings>();
  private readonly sliders = new Map<Name, { input: HTMLInputElement; output: HTMLOutputElement }>();

  constructor(
    private settings: Settings,
    private readonly changed: (settings: Settings) => void,
    reset: () => void,
    record: HTMLElement,
  ) {
    const presets = make("div", "compare-presets");
    presets.role = "group";
    presets.ariaLabel = "Networks";
    presets.append(...PRESETS.map((preset) => this.preset(preset)));
    const again = make("button", "compare-button", "Start over");
    again.type = "button";
    again.title = "Forget the numbers so far";
    again.dataset.testid = "reset";
    again.addEventListener("click", reset);
    this.choice = [presets, this.slider("loss"), this.slider("delay")];
    this.element.append(...this.choice, again, record);
    this.show();
  }

  /**
   * Offers the choice of a network, or not on a server that emulates none: it would show settings
   * that are not so.
   */
  offer(isOffered: boolean): void {
    for (const element of this.choice) element.hidden = !isOffered;
  }

  private preset({ name, ...settings }: Settings & { readonly name: string }): HTMLElement {
    const button = make("button", "", name);
    button.type = "button";
    button.title = `${settings.loss} % loss, ${settings.delay} ms each way`;
    button.dataset.testid = `preset-${name.toLowerCase().replace(/\W+/g, "-")}`;
    button.addEventListener("click", () => this.change(settings));
    this.presets.set(button, settings);
    return button;
  }

  private slider(name: Name): HTMLElement {
    const { label, most, step } = RANGES[name];
    const input = make("input", "");
    Object.assign(input, { type: "range", min: "0", max: String(most), step: String(step) });
    input.dataset.testid = `slider-${name}`;
    // The label around both would name the output, which is the first one.
    input.ariaLabel = label;
    input.addEventListener("input", () => this.change({ ...this.settings, [name]: input.valueAsNumber }));
    const output = make("output", "");
    const head = make("span", "compare-slider-head");
    head.append(make("span", "", label), output);
    const element = make("label", "compare-slider");
    element.append(head, input);
    this.sliders.set(name, { input, output });
    return element;
  }

  private change(settings: Settings): void {
    this.settings = settings;
    this.show();
    this.changed(settings);
  }

  private show(): void {
    for (const [button, { loss, delay }] of this.presets)
      button.ariaPressed = String(loss === this.settings.loss && delay === this.settings.delay);
    for (const [name, { input, output }] of this.sliders) {
      const value = this.settings[name];
      input.value = String(value);
      input.style.setProperty("--part", `${(value / RANGES[name].most) * 100}%`);
      input.ariaValueText = output.textContent = RANGES[name].say(value);
    }
  }
}
