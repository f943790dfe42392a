export const STYLES = `
:host { position: fixed; inset: 0; z-index: var(--gw-follow-z, 999); pointer-events: none; }
[part~="frame"] { position: fixed; display: flex; flex-direction: column; align-items: center; gap: 6px; }
[part~="following"] { box-shadow: inset 0 0 0 3px var(--_person); }
[part~="bar"] {
  display: flex;
  align-items: center;
  gap: 10px;
  max-width: 90%;
  padding-block: 3px 5px;
  padding-inline: 14px 5px;
  border-radius: 0 0 var(--_radius) var(--_radius);
  font-weight: 550;
  pointer-events: auto;
}
[part~="stop"] { padding: 2px 10px; border-radius: 8px; background: #0003; outline-color: currentcolor !important; }
[part~="watched"] {
  margin-block-start: auto;
  margin-block-end: 8px;
  padding: 3px 12px;
  border-radius: var(--_radius);
  font-size: 12px;
  background: var(--_surface);
  box-shadow: var(--_shadow);
}
[part~="watched"]:empty { display: none; }
`;
