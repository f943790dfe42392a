/** The form for the token, if the address has none. */

import { h } from "./dom.js";

/** Asks for the token of the administration. `action` is what the button says. */
export function tokenForm(action: string, give: (token: string) => void): HTMLFormElement {
  const input = h("input");
  input.type = "password";
  input.autocomplete = "off";
  input.ariaLabel = "Token";
  input.placeholder = "Token of the administration";
  const submit = h("button", "quiet", action);
  const form = h("form", "token", input, submit);
  form.hidden = true;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    give(input.value);
  });
  return form;
}
