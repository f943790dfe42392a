export const STYLES = `
:host { display: block; forced-color-adjust: none; width: 200px; aspect-ratio: 4 / 3; }
[part~="map"] {
  position: relative;
  width: 100%;
  height: 100%;
  overflow: hidden;
  border-radius: var(--_radius);
  background: var(--_surface);
  box-shadow: var(--_shadow);
  cursor: crosshair;
  touch-action: none;
}
slot { display: block; position: absolute; inset: 0; overflow: hidden; pointer-events: none; }
[part~="own"], [part~="view"] { position: absolute; border: 2px solid var(--_accent); border-radius: 3px; pointer-events: none; }
/* Dark colours are lighter on a dark map. */
[part~="view"] { border: 1.5px dashed light-dark(var(--_person), color-mix(in oklab, var(--_person), #fff 35%)); }
[part~="dot"] {
  position: absolute;
  width: 9px;
  height: 9px;
  margin: -4.5px;
  border-radius: 50%;
  background: var(--_person);
  box-shadow: 0 0 0 1.5px var(--_surface);
  pointer-events: none;
}
`;
