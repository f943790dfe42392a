export const STYLES = `
:host { position: fixed; inset: 0; z-index: var(--gw-selection-z, 998); pointer-events: none; }
[part~="layer"] { position: absolute; inset: 0; overflow: hidden; }
[part~="frame"] { position: absolute; border-radius: 6px; outline: 2px solid var(--_person); outline-offset: 2px; }
[part~="label"] {
  position: absolute;
  inset-block-end: calc(100% + 2px);
  inset-inline-end: -4px;
  max-width: 160px;
  padding: 0 7px 1px;
  border-radius: 6px 6px 0 0;
  overflow: hidden;
  text-overflow: ellipsis;
  white-space: nowrap;
  font-size: 11px;
  font-weight: 550;
}
`;
