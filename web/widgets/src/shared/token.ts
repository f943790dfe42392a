/** The form for the token, if the address has none. */

import { h } from "./dom.js";

/** The explanation beside the form: the server's own answer speaks to programs. */
export const TOKEN_WANTED =
  "The token is missing or wrong. The server prints this page's address with its token, or the token is in the file that --admin-token-file names.";

/** Asks for the token of the administration. `action` is what the button says. */
export function tokenForm(action: string, give: (token: string) => void): HTMLFormElement {
  const input = h("input");
  input.type = "password";
  input.autocomplete = "off";
  input.ariaLabel = "Token";
  input.placeholder = "Token of the administration";
  const submit = h("button", "quiet", action);
  const form = h("form", "token", input, submit);
  form.ariaLabel = "Access";
  form.hidden = true;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    give(input.value);
  });
  return form;
}
