/**
 * The preferences of the user's system, and the colours of participants. The colours of controls
 * are in styles/base.css.
 */

export { colorOf } from "../../widgets/src/core/colors.js";

/** Evaluated on use, so that the module can be imported without a window. */
export function isDark(): boolean {
  return dark().matches;
}

function dark(): MediaQueryList {
  darkQuery ??= matchMedia("(prefers-color-scheme: dark)");
  return darkQuery;
}
let darkQuery: MediaQueryList | undefined;
let stillQuery: MediaQueryList | undefined;

/** True if the user prefers reduced motion. */
export function wantsStillness(): boolean {
  stillQuery ??= matchMedia("(prefers-reduced-motion: reduce)");
  return stillQuery.matches;
}

export function onThemeChanged(listener: () => void): void {
  dark().addEventListener("change", listener);
}
