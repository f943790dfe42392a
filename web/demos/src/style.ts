/** The look of demonstrations and playground, in light and dark, from a phone's width on. */

export const STYLE = `
:host {
  --surface: light-dark(#ffffff, #1f2126);
  --ground: light-dark(#f5f5f2, #17181b);
  --edge: light-dark(#dcdcd6, #3a3d45);
  --text: light-dark(#23262d, #ececea);
  --quiet: light-dark(#5a5f6b, #a6acb8);
  --accent: light-dark(#3552c4, #9db2ff);
  --on-accent: light-dark(#ffffff, #14182a);
  --good: light-dark(#17693f, #6fd8a2);
  --good-soft: light-dark(#e0f3e8, #1d3a2b);
  --bad: light-dark(#b3262d, #ff9ea1);
  --bad-soft: light-dark(#fde8e8, #47222a);
  --wait: light-dark(#8a5200, #ffc27a);
  display: block;
  color: var(--text);
  font: 15px/1.45 system-ui, "Segoe UI", Roboto, sans-serif;
}
*, ::before, ::after { box-sizing: border-box; }
[hidden] { display: none !important; }
p, ul, ol, fieldset { margin: 0; padding: 0; border: 0; min-width: 0; }
ul, ol { list-style: none; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.demo { container-type: inline-size; border: 1px solid var(--edge); border-radius: 14px; background: var(--ground); padding: 16px; }
header { display: flex; flex-wrap: wrap; gap: 8px 24px; align-items: end; justify-content: space-between; margin-bottom: 12px; }
header > div:first-child { flex: 1 1 20rem; }
.title { font-weight: 650; font-size: 1.1rem; }
.hint, .foot, .note, .asks, .why, .last { color: var(--quiet); }
.hint { max-width: 46rem; }
.foot { margin-top: 12px; font-size: 0.85rem; }
.tools, .row { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; }

button, select, input:not([type]), textarea {
  font: inherit; color: var(--text); background: var(--surface);
  border: 1px solid var(--edge); border-radius: 8px; padding: 6px 12px; min-height: 36px;
}
button { cursor: pointer; }
button:hover:not(:disabled) { border-color: var(--accent); }
button:disabled { color: var(--quiet); cursor: default; border-style: dashed; }
button[type="submit"], button.big, button.main { background: var(--accent); color: var(--on-accent); border-color: transparent; }
button.quiet { background: none; border-color: transparent; min-height: 28px; padding: 0 8px; color: var(--quiet); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
input[readonly] { background: var(--ground); color: var(--quiet); }
input[type="checkbox"] { width: 1.1rem; height: 1.1rem; accent-color: var(--accent); margin: 0; }

.choice { display: flex; align-items: center; gap: 0; }
.choice legend { float: left; padding: 0 8px 0 0; color: var(--quiet); }
.choice label { position: relative; cursor: pointer; }
.choice input { position: absolute; inset: 0; opacity: 0; margin: 0; cursor: pointer; }
.choice span { display: block; padding: 6px 14px; border: 1px solid var(--edge); margin-left: -1px; background: var(--surface); }
.choice label:first-of-type span { border-radius: 8px 0 0 8px; }
.choice label:last-of-type span { border-radius: 0 8px 8px 0; }
.choice input:checked + span { background: var(--accent); color: var(--on-accent); border-color: var(--accent); }
.choice input:focus-visible + span { outline: 2px solid var(--accent); outline-offset: 2px; position: relative; z-index: 1; }

.windows { display: grid; gap: 12px; grid-template-columns: repeat(2, minmax(0, 1fr)); }
.windows[data-count="6"] { grid-template-columns: repeat(3, minmax(0, 1fr)); }
.windows[data-count="20"] { grid-template-columns: repeat(5, minmax(0, 1fr)); gap: 6px; }
.window { display: flex; flex-direction: column; border: 1px solid var(--edge); border-radius: 10px; background: var(--surface); overflow: hidden; }
.bar { display: flex; align-items: center; gap: 8px; padding: 6px 10px; border-bottom: 1px solid var(--edge); }
.dot { width: 10px; height: 10px; border-radius: 50%; background: var(--person); flex: none; outline: 2px solid #ffffffb0; outline-offset: -1px; }
.state { margin-left: auto; color: var(--quiet); font-size: 0.85rem; }
.state[data-state="reconnecting"] { color: var(--wait); }
.body { flex: 1; padding: 10px; display: flex; flex-direction: column; gap: 8px; min-height: 0; }
.said { min-height: 1.9em; padding: 0 10px 6px; font-size: 0.85rem; color: var(--quiet); }
.windows[data-count="20"] .said { display: none; }
.windows[data-count="20"] .bar { padding: 2px 6px; gap: 4px; font-size: 0.8rem; }
.windows[data-count="20"] .state { display: none; }
.body > form input { flex: 1 1 8rem; min-width: 0; }

.plane { position: relative; aspect-ratio: 16 / 10; margin: -10px; overflow: hidden; cursor: crosshair; touch-action: none;
  background: radial-gradient(circle, var(--edge) 1px, transparent 1.5px) 0 0 / 18px 18px; }
.windows[data-count="20"] .plane { aspect-ratio: 1; }
.cursor { position: absolute; width: 0; height: 0; pointer-events: none; }
.cursor::before { content: ""; position: absolute; width: 14px; height: 14px; background: var(--person);
  clip-path: polygon(0 0, 100% 45%, 48% 55%, 36% 100%); }
.cursor span { position: absolute; left: 11px; top: 12px; padding: 0 6px; border-radius: 6px; background: var(--person); color: #fff; font-size: 0.75rem; line-height: 1.5; }
.cursor.own::before { clip-path: none; border-radius: 50%; left: -6px; top: -6px; width: 12px; height: 12px; background: none; border: 3px solid var(--person); box-shadow: 0 0 0 1px #ffffffa0; }
.cursor.own span { display: none; }
.windows[data-count="20"] .cursor span { display: none; }
.windows[data-count="20"] .cursor::before { scale: 0.7; transform-origin: 0 0; }

.tasks { display: flex; flex-direction: column; gap: 2px; min-height: 7.5rem; max-height: 14rem; overflow: auto; }
.tasks li { display: flex; align-items: center; justify-content: space-between; gap: 8px; }
.tasks label { display: flex; gap: 8px; align-items: center; min-width: 0; overflow-wrap: anywhere; cursor: pointer; padding: 4px 0; }
.tasks input:checked + span { text-decoration: line-through; color: var(--quiet); }
.lock { display: grid; gap: 6px; padding: 8px; border: 1px solid var(--edge); border-radius: 8px; }
.lock label { font-weight: 600; }
.lock input { width: 100%; }
.lock[data-state="mine"] { border-color: var(--accent); }
.lock[data-state="taken"] { border-style: dashed; }
.who { font-size: 0.9rem; color: var(--quiet); }
.lock[data-state="mine"] .who { color: var(--accent); }
textarea { width: 100%; resize: vertical; min-height: 9rem; line-height: 1.5; }
.votes { font-size: 2.4rem; font-weight: 650; min-width: 3ch; font-variant-numeric: tabular-nums; }
button.big { padding: 10px 28px; font-size: 1.05rem; }
.notes { height: 7rem; overflow: auto; display: flex; flex-wrap: wrap; gap: 4px; align-content: start; }
.notes li { padding: 1px 8px; border-radius: 6px; background: var(--ground); border: 1px solid var(--edge); font-size: 0.85rem; }

.panel { display: grid; gap: 12px 24px; margin-top: 14px; grid-template-columns: minmax(0, 1fr) minmax(0, 1.15fr) minmax(0, 1.15fr); }
.legend, .network legend { font-weight: 600; padding: 0; margin-bottom: 6px; }
.slider { display: grid; grid-template-columns: 1fr auto; gap: 0 8px; margin-bottom: 4px; }
.slider output { font-variant-numeric: tabular-nums; color: var(--quiet); }
.slider input { grid-column: 1 / -1; width: 100%; margin: 2px 0 4px; accent-color: var(--accent); height: 24px; }
.contracts li { display: grid; grid-template-columns: 1fr auto; gap: 2px 8px; align-items: start; margin-bottom: 10px; font-size: 0.9rem; }
.contracts .asks, .contracts .why { grid-column: 1 / -1; }
.contracts .why { min-height: 2.9em; }
.verdict { padding: 0 8px; border-radius: 99px; border: 1px solid currentColor; font-size: 0.85rem; color: var(--quiet); }
[data-state="met"] .verdict { color: var(--good); background: var(--good-soft); }
[data-state="missed"] .verdict, [data-state="cannot-meet"] .verdict { color: var(--bad); background: var(--bad-soft); }
table { width: 100%; border-collapse: collapse; font-size: 0.9rem; font-variant-numeric: tabular-nums; }
th { text-align: left; font-weight: 400; color: var(--quiet); padding: 2px 8px 2px 0; vertical-align: top; }
td { text-align: right; padding: 2px 0; }
.strip { display: flex; align-items: end; gap: 1px; height: 44px; margin-top: 8px; border-bottom: 1px solid var(--edge); }
.strip i { flex: 1; min-width: 0; border-radius: 2px 2px 0 0; }
.datagram { background: var(--accent); }
.stream { background: var(--good); }
.lost { background: var(--bad); }
.key { display: flex; gap: 12px; margin-top: 4px; font-size: 0.8rem; color: var(--quiet); }
.key i { display: inline-block; width: 9px; height: 9px; border-radius: 2px; margin-right: 5px; }
.last { font-size: 0.85rem; margin-top: 4px; min-height: 1.45em; }
.note { font-size: 0.85rem; }

@container (max-width: 760px) {
  .panel { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); }
  .windows[data-count="20"] { grid-template-columns: repeat(4, minmax(0, 1fr)); }
}
@container (max-width: 540px) {
  .windows { grid-template-columns: minmax(0, 1fr); }
  .windows[data-count="6"] { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .panel { grid-template-columns: minmax(0, 1fr); }
  .contracts .why { min-height: 0; }
}
@media (max-width: 540px) { .demo { padding: 12px; border-radius: 10px; } }
`;
