export const STYLES = `
:host { position: fixed; inset: 0; z-index: var(--gw-cursors-z, 1000); pointer-events: none; }
[part~="layer"], canvas { position: absolute; inset: 0; }
[part~="layer"] { overflow: hidden; }
canvas { width: 100%; height: 100%; }
[part~="cursor"] { position: absolute; left: 0; top: 0; will-change: transform; transition: opacity 0.4s; }
[part~="idle"] { opacity: var(--gw-idle, 35%); }
svg { display: block; overflow: visible; filter: drop-shadow(0 1px 2px #0004); }
path { fill: var(--_person); stroke: #fff; stroke-width: 1.6; stroke-linejoin: round; }
[part~="label"] {
  position: absolute;
  left: 13px;
  top: 17px;
  width: max-content;
  max-width: 200px;
  padding: 2px 8px 3px;
  border-radius: 4px 10px 10px;
  overflow: hidden;
  text-overflow: ellipsis;
  white-space: nowrap;
  font-size: 12px;
  font-weight: 550;
}
[part~="badge"]:not([hidden]) {
  margin-inline-end: 5px;
  padding: 0 3px;
  border: 1px solid;
  border-radius: 5px;
  font-size: 9px;
}
`;
