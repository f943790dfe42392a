export const STYLES = `
:host { display: inline-block; position: relative; font-size: 13px; }
summary { display: flex; align-items: center; gap: 7px; padding: 4px 10px; border-radius: var(--_radius); cursor: pointer; list-style: none; }
summary::-webkit-details-marker { display: none; }
summary:hover { background: var(--_hover); }
[part~="dot"] { flex: none; width: 8px; height: 8px; border-radius: 50%; background: var(--_wait); }
[part~="connected"] { background: var(--_good); }
[part~="closed"] { background: var(--_bad); }
[part~="connecting"], [part~="reconnecting"] { animation: breathe 1.4s ease-in-out infinite alternate; }
@keyframes breathe { to { opacity: 0.3; } }
[part~="card"] {
  position: absolute;
  z-index: var(--gw-card-z, 1001);
  inset-block-start: calc(100% + 6px);
  inset-inline-start: 0;
  width: max-content;
  max-width: min(300px, calc(100vw - 32px));
  padding: 12px 16px;
  border-radius: var(--_radius);
  background: var(--_surface);
  box-shadow: var(--_shadow);
}
p { margin: 4px 0 0; color: var(--_quiet); }
[part~="transport"]:empty { display: none; }
`;
