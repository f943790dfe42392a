/** The style sheet of the shadow root, in which the styles of the page have no effect. */

export const STYLES = /* css */ `
/* Rules of the page may select the element itself, and what it has would be inherited. */
:host { all: initial !important; }
:host([hidden]), [hidden] { display: none !important; }
aside {
  all: initial;
  color-scheme: light dark;
  --surface: light-dark(#fff, #1d1f23);
  --raised: light-dark(#f5f5f3, #26292e);
  --text: light-dark(#23262d, #ececea);
  --quiet: light-dark(#5d626d, #a8aeb9);
  --edge: light-dark(#0000001f, #ffffff26);
  --hover: light-dark(#0000000d, #ffffff14);
  --accent: light-dark(#3f5ed2, #9ab0ff);
  --soft: light-dark(#4060d81a, #8fa8ff26);
  --good: light-dark(#1d7a4c, #5fce95);
  --wait: light-dark(#96570a, #ffb45c);
  --bad: light-dark(#b8272f, #ff8a8e);
  color: var(--text);
  font: 13px/1.45 system-ui, "Segoe UI", Roboto, sans-serif;
  font-variant-numeric: tabular-nums;
}
*, ::before, ::after { box-sizing: border-box; }
h1, h2, p, ul, ol, dl, dd, fieldset { margin: 0; padding: 0; border: 0; }
h1, h2 { font-size: 13px; font-weight: 650; }
h2 { margin: 14px 0 4px; }
section > h2:first-child { margin-top: 0; }
ul, ol { list-style: none; }
button, select, input { font: inherit; color: inherit; }
button { padding: 0; border: 0; background: none; cursor: pointer; }
code { font: 12px/1.45 ui-monospace, "Cascadia Mono", Menlo, Consolas, monospace; overflow-wrap: anywhere; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: -2px; border-radius: 4px; }
.quiet { color: var(--quiet); }
.dot { flex: none; width: 9px; height: 9px; border-radius: 50%; background: var(--quiet); }
.good > .dot, .good .room > .dot { background: var(--good); }
.wait > .dot, .wait .room > .dot { background: var(--wait); }
.bad > .dot, .bad .room > .dot { background: var(--bad); }
.met { color: var(--good); }
.missed, .cannot-meet { color: var(--bad); }

.badge {
  position: fixed;
  z-index: 2147483000;
  inset-block-end: 10px;
  inset-inline-end: 10px;
  display: flex;
  align-items: center;
  gap: 6px;
  padding: 4px 10px;
  border: 1px solid var(--edge);
  border-radius: 999px;
  background: var(--surface);
  box-shadow: 0 2px 8px #0003;
  font-size: 12px;
}
:host([side="left"]) .badge { inset-inline: 10px auto; }
.badge:hover { background: var(--raised); }
.badge:focus-visible { outline-offset: 2px; border-radius: 999px; }

.panel {
  position: fixed;
  z-index: 2147483000;
  inset: auto 0 0;
  display: flex;
  flex-direction: column;
  max-height: calc(100vh - 20px);
  border-top: 1px solid var(--edge);
  background: var(--surface);
  box-shadow: 0 -6px 24px #0003;
}
.edge { position: absolute; inset: -5px 0 auto; height: 10px; cursor: ns-resize; touch-action: none; }
header { display: flex; flex-wrap: wrap; align-items: center; gap: 0 12px; padding: 0 10px; border-bottom: 1px solid var(--edge); background: var(--raised); }
.room { display: flex; align-items: center; gap: 7px; min-width: 0; max-width: 320px; padding: 6px 0; }
.room .state { flex: none; }
.name { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
select, input[type="search"] { padding: 3px 6px; border: 1px solid var(--edge); border-radius: 6px; background: var(--surface); }
.rooms { max-width: 160px; }
.tabs { display: flex; flex: 1 1 auto; overflow-x: auto; scrollbar-width: none; }
.tab { flex: none; padding: 8px 9px; border-bottom: 2px solid transparent; color: var(--quiet); white-space: nowrap; }
.tab:hover { background: var(--hover); }
.tab[aria-selected="true"] { border-bottom-color: var(--accent); color: var(--text); }
.mark { margin-inline-start: 5px; padding: 1px 6px; border-radius: 999px; background: var(--soft); color: var(--text); font-size: 11px; }
.buttons { display: flex; gap: 4px; }
.tool { padding: 3px 9px; border: 1px solid var(--edge); border-radius: 6px; background: var(--surface); }
.tool:hover { background: var(--hover); }
.tool.on { border-color: var(--accent); background: var(--soft); }
.pages { flex: 1; min-height: 0; }
.page { height: 100%; padding: 12px; overflow: auto; }

.columns { display: grid; grid-template-columns: minmax(260px, 1fr) minmax(260px, 1fr); gap: 8px 28px; }
.facts > div { display: grid; grid-template-columns: 150px 1fr; gap: 10px; padding: 3px 0; border-bottom: 1px solid var(--edge); }
dt { color: var(--quiet); }
dd { overflow-wrap: anywhere; }
.transports li { padding: 1px 0; }
.transports .used b { color: var(--good); }
.log li { display: flex; flex-wrap: wrap; align-items: baseline; gap: 2px 8px; padding: 3px 0; border-bottom: 1px solid var(--edge); }
.log time, .log .kind { color: var(--quiet); }
.log .error .kind, .log .problem .kind, .log .gap .kind { color: var(--bad); }
.log .contract .kind { color: var(--wait); }

.wide { overflow-x: auto; }
table { width: 100%; min-width: 760px; border-collapse: collapse; }
th, td { padding: 5px 10px 5px 0; border-bottom: 1px solid var(--edge); text-align: start; vertical-align: top; font-weight: 400; }
thead th { color: var(--quiet); white-space: nowrap; }
tbody th { font-weight: 650; }
td:nth-child(2) { width: 24%; }
td:nth-child(3) { width: 34%; }
td p { color: var(--quiet); }
tbody th .kind { display: block; color: var(--quiet); font-weight: 400; }

.packet-view { display: flex; flex-direction: column; gap: 8px; height: 100%; min-height: 130px; }
.tools { display: flex; flex-wrap: wrap; align-items: center; gap: 6px 8px; }
.split { display: grid; flex: 1; grid-template-columns: 3fr 2fr; gap: 12px; min-height: 0; }
.packets, .contents { min-height: 0; overflow: auto; border: 1px solid var(--edge); border-radius: 8px; }
.contents { padding: 8px 10px; }
.packet { display: flex; gap: 10px; height: 23px; padding: 2px 8px; contain: strict; content-visibility: auto; cursor: pointer; white-space: nowrap; }
.packet:hover { background: var(--hover); }
.packet[aria-selected="true"] { background: var(--soft); box-shadow: inset 3px 0 var(--accent); }
.packet time, .packet .carrier { color: var(--quiet); }
.packet .way { flex: none; width: 3.2em; }
.packet.in .way { color: var(--good); }
.packet.out .way { color: var(--accent); }
.packet .size { flex: none; width: 4.6em; text-align: end; }
.packet .carrier { flex: none; width: 5em; }
.packet .what { overflow: hidden; text-overflow: ellipsis; }
.carried { margin-top: 6px; }
.carried li, .waiting li { padding: 3px 0; border-top: 1px solid var(--edge); }
.carried code, .waiting code { display: block; color: var(--quiet); }
.waiting { margin-top: 8px; }
.waits { color: var(--wait); }
.sent { color: var(--accent); }
.people > li { padding: 4px 0; border-top: 1px solid var(--edge); }
.tree, .tree ul { padding-inline-start: 2px; }
.tree details > :is(ul, p) { padding-inline-start: 18px; }
.tree summary { cursor: pointer; }
.tree .leaf { padding-inline-start: 15px; }
.tree b { font-weight: 600; color: var(--accent); }
.tree span { overflow-wrap: anywhere; }
.network { display: grid; gap: 12px; max-width: 560px; }
fieldset { display: flex; flex-wrap: wrap; gap: 4px 16px; }
legend { padding: 0; margin-bottom: 4px; font-weight: 650; }
.slider { display: grid; grid-template-columns: 150px 1fr 60px; align-items: center; gap: 10px; }
input { accent-color: var(--accent); }

@media (max-width: 640px) {
  .room { flex: 1; }
  .tabs { order: 1; flex-basis: 100%; }
  .columns, .split { grid-template-columns: minmax(0, 1fr); }
  .split { grid-template-rows: 1fr 1fr; }
  .packet .carrier, thead { display: none; }
  table { min-width: 0; }
  table, tbody, tr, tbody th, td, td:nth-child(n) { display: block; width: auto; }
  tbody th, td { padding: 1px 0; border: 0; }
  tr { padding: 6px 0; border-bottom: 1px solid var(--edge); }
  tbody th .kind { display: inline; margin-inline-start: 6px; }
  [data-head]::before { content: attr(data-head) ": "; color: var(--quiet); }
  .facts > div { grid-template-columns: 110px 1fr; }
  .slider { grid-template-columns: 1fr 52px; }
  .slider span { grid-column: 1 / -1; }
}
`;
