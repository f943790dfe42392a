export const STYLES = `
:host { display: inline-block; --_size: var(--gw-avatar-size, 32px); }
[part~="list"] { display: flex; flex-wrap: wrap; gap: 8px; margin: 0; padding: 3px; list-style: none; }
[part~="item"] { display: flex; }
[part~="avatar"] {
  position: relative;
  display: inline-flex;
  align-items: center;
  justify-content: center;
  min-width: var(--_size);
  height: var(--_size);
  padding: 0;
  border-radius: calc(var(--_size) / 2);
  font-size: calc(var(--_size) * 0.375);
  font-weight: 620;
  letter-spacing: 0.02em;
  cursor: default;
  transition: background 0.4s;
}
button[part~="avatar"]:enabled { cursor: pointer; }
button[part~="avatar"]:enabled:hover { box-shadow: 0 0 0 2px var(--_edge); }
[part~="self"] { box-shadow: 0 0 0 2px var(--_surface), 0 0 0 4px var(--_person); }
[part~="followed"] { box-shadow: 0 0 0 2px var(--_surface), 0 0 0 4px var(--_accent) !important; }
[part~="idle"] { --_fill: color-mix(in srgb, var(--_person) var(--gw-idle, 35%), var(--_surface)); }
[part~="away"] { --_fill: color-mix(in srgb, color-mix(in srgb, var(--_person), #888 80%) 35%, var(--_surface)); }
[part~="idle"] img, [part~="away"] img { opacity: 0.4; }
[part~="verified"]::after {
  content: "\\2713" / "";
  position: absolute;
  inset-inline-end: -4px;
  inset-block-end: -3px;
  width: 14px;
  height: 14px;
  border-radius: 50%;
  font-size: 10px;
  line-height: 14px;
  letter-spacing: 0;
  text-align: center;
  color: var(--_on-accent);
  background: var(--_accent);
  box-shadow: 0 0 0 1.5px var(--_surface);
}
[part~="agent"]::before {
  content: "AI" / "";
  position: absolute;
  z-index: 1;
  inset-inline-end: -5px;
  inset-block-start: -4px;
  padding: 0 3px;
  border-radius: 6px;
  font-size: 9px;
  line-height: 13px;
  letter-spacing: 0;
  color: var(--_surface);
  background: var(--_text);
  box-shadow: 0 0 0 1.5px var(--_surface);
}
[part~="picture"] { position: absolute; inset: 0; width: 100%; height: 100%; border-radius: inherit; object-fit: cover; }
[part~="more"] { padding: 0 8px; color: var(--_text); background: var(--_hover); font-variant-numeric: tabular-nums; }
`;
