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
[part~="bubble"] { display: block; white-space: normal; overflow-wrap: anywhere; font-size: 14px; font-weight: 400; }
[part~="bubble"]:empty { display: none; }
[part~="chat"] {
  position: absolute;
  left: 13px;
  top: 17px;
  width: 220px;
  padding: 6px 12px;
  border: 0;
  border-radius: 4px 16px 16px;
  font: inherit;
  font-size: 16px;
  outline: 2px solid var(--_accent);
  outline-offset: 2px;
  pointer-events: auto;
}
[part~="chat"]::placeholder { color: inherit; opacity: 0.85; }
`;
