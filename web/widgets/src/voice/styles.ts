export const STYLES = `
:host { display: inline-block; position: relative; font-size: 13px; }
[part~="bar"] { display: flex; align-items: center; gap: 4px; }
button, summary { padding: 4px 10px; border-radius: var(--_radius); cursor: pointer; white-space: nowrap; }
button:hover, summary:hover { background: var(--_hover); }
button:disabled { cursor: default; color: var(--_quiet); }
[part~="join"], [part~="hear"], [part~="retry"] { font-weight: 550; color: var(--_on-accent); background: var(--_accent); }
[part~="join"]:hover, [part~="hear"]:hover, [part~="retry"]:hover { color: var(--_on-accent); background: var(--_accent); filter: brightness(1.1); }
[part~="join"]:disabled { color: var(--_quiet); background: var(--_hover); }
[part~="talk"] { background: var(--_hover); touch-action: none; user-select: none; }
[part~="talk"]:active { color: var(--_on-accent); background: var(--_good); }
[part~="mute"]::before, [part~="settings"]::before, [part~="dot"] {
  content: ""; display: inline-block; width: 8px; height: 8px; margin-inline-end: 7px; border-radius: 50%; background: var(--_quiet);
}
[part~="mute"]::before { background: var(--_good); opacity: 0.5; }
[part~="speaking"]::before { background: var(--_good); opacity: 1; box-shadow: 0 0 0 3px color-mix(in srgb, var(--_good) 35%, transparent); }
[part~="muted"]::before { background: var(--_bad); opacity: 1; box-shadow: none; }
summary { list-style: none; max-width: 16em; overflow: hidden; text-overflow: ellipsis; }
summary::-webkit-details-marker { display: none; }
[part~="box"] { position: relative; }
[part~="card"] {
  position: absolute;
  z-index: var(--gw-card-z, 1001);
  inset-block-start: calc(100% + 6px);
  inset-inline-end: 0;
  width: min(280px, calc(100vw - 32px));
  padding: 12px 16px;
  border-radius: var(--_radius);
  background: var(--_surface);
  box-shadow: var(--_shadow);
}
[part~="devices"] { display: grid; gap: 4px; color: var(--_quiet); }
select { font: inherit; color: var(--_text); background: var(--_surface); border: 1px solid var(--_edge); border-radius: 6px; padding: 4px; max-width: 100%; }
ul { display: grid; gap: 10px; margin: 6px -4px 0; padding: 4px; list-style: none; max-height: 40vh; overflow: auto; }
ul:empty { display: none; }
li { display: grid; gap: 2px; }
.who { display: flex; align-items: center; }
[part~="person"]::before { content: none; }
[part~="dot"] { flex: none; background: var(--_person); }
[part~="person"][part~="speaking"] [part~="dot"] { box-shadow: 0 0 0 3px color-mix(in srgb, var(--_good) 55%, transparent); }
[part~="name"] { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
[part~="state"] { margin-inline-start: auto; padding-inline-start: 8px; color: var(--_quiet); }
[part~="volume"] { width: 100%; accent-color: var(--_accent); margin: 0; }
[part~="problem"] { margin: 6px 0 0; max-width: 320px; color: var(--_bad); }
[part~="problem"]::first-letter { text-transform: uppercase; }
`;
