/** The choice of a microphone. */

import { h, made } from "../shared/dom.js";

export class Devices {
  readonly #select = h("select");
  readonly #name = h("span");
  readonly element = made("label", "devices", "", this.#name, this.#select);

  constructor(choose: (device: string | undefined) => void) {
    this.#select.addEventListener("change", () => choose(this.chosen));
  }

  /** The `deviceId` of the chosen microphone; undefined: the browser chooses. */
  get chosen(): string | undefined {
    return this.#select.value || undefined;
  }

  /** Shows the microphones whose names are known; `any` names the browser's choice. */
  show(devices: readonly MediaDeviceInfo[], name: string, any: string): void {
    const { value } = this.#select;
    this.#name.textContent = name;
    const options = devices
      .filter(({ deviceId, label }) => deviceId !== "" && deviceId !== "default" && label !== "")
      .map(({ deviceId, label }) => new Option(label, deviceId));
    this.#select.replaceChildren(new Option(any, ""), ...options);
    this.#select.value = options.some((option) => option.value === value) ? value : "";
  }
}
