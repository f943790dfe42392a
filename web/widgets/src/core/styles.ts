/** Styles in shadow roots. */

/**
 * What all widgets share. A page changes the look by the custom properties `--gw-…`; without them
 * the widgets are light or dark as the page's `color-scheme` says.
 */
export const BASE = `
:host {
  --_surface: var(--gw-surface, light-dark(#fff, #232529));
  --_text: var(--gw-text, light-dark(#23262d, #ececea));
  --_quiet: var(--gw-quiet, light-dark(#5d626d, #a3a9b4));
  --_edge: var(--gw-edge, light-dark(#00000024, #ffffff2e));
  --_hover: var(--gw-hover, light-dark(#0000000d, #ffffff14));
  --_accent: var(--gw-accent, light-dark(#4060d8, #8fa8ff));
  --_on-accent: var(--gw-on-accent, light-dark(#fff, #14182a));
  --_good: var(--gw-good, light-dark(#2c9a63, #5fce95));
  --_wait: var(--gw-wait, light-dark(#e0912f, #ffb45c));
  --_bad: var(--gw-bad, light-dark(#d9434a, #ff7b7f));
  --_radius: var(--gw-radius, 10px);
  --_shadow: var(--gw-shadow, 0 0 0 1px var(--_edge), 0 6px 20px #0003);
  color: var(--_text);
  font: var(--gw-font, 14px/1.4 system-ui, "Segoe UI", Roboto, sans-serif);
}
:host([hidden]), [hidden] { display: none !important; }
*, ::before, ::after { box-sizing: border-box; }
.person {
  color: #fff;
  /* White on dark colours, black on light ones. */
  color: oklch(from var(--_fill, var(--_person)) clamp(0, (0.58 - l) * 1000, 1) 0 0);
  background: var(--_fill, var(--_person));
  forced-color-adjust: none;
}
button { font: inherit; color: inherit; border: 0; background: none; cursor: pointer; }
button:focus-visible, summary:focus-visible, [tabindex]:focus-visible { outline: 2px solid var(--_accent); outline-offset: 2px; }
.unseen {
  position: absolute;
  width: 1px;
  height: 1px;
  overflow: hidden;
  clip-path: inset(50%);
  white-space: nowrap;
}
@media (prefers-reduced-motion: reduce) {
  *, ::before, ::after { animation: none !important; transition: none !important; }
}
`;

const sheets = new Map<string, CSSStyleSheet>();

/**
 * Gives a shadow root styles, once, in a form that a content security policy without
 * `unsafe-inline` permits.
 */
export function adopt(root: ShadowRoot, styles: string): void {
  if (!("adoptedStyleSheets" in root)) {
    // Only test environments lack `adoptedStyleSheets`.
    (root as ShadowRoot).append(Object.assign(document.createElement("style"), { textContent: styles }));
    return;
  }
  let sheet = sheets.get(styles);
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(styles);
    sheets.set(styles, sheet);
  }
  if (!root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets.push(sheet);
}

/** True if the user wants no movement that is not needed. */
export function wantsStillness(): boolean {
  return globalThis.matchMedia?.("(prefers-reduced-motion: reduce)").matches ?? false;
}
