/**
 * The style sheet of the inspector's shadow root. An application may set the colours that start
 * with `--gw-`.
 */

export const STYLES = /* css */ `
:host {
  --bg: var(--gw-background, #f7f7f5);
  --card: var(--gw-card, #fff);
  --edge: #00000014;
  --text: var(--gw-text, #23262d);
  --quiet: #666b77;
  --hover: #0000000a;
  --accent: var(--gw-accent, #4060d8);
  --soft: #4060d814;
  --bad: #c8323a;
  --header: #9aa1ad;
  --feedback: #5d6675;
  --new: #4060d8;
  --repeated: #e08a1e;
  --state: #8b5cd6;
  --own: #2c9a63;
  --good: #1d7a4c;
  display: flex;
  flex-direction: column;
  box-sizing: border-box;
  height: 100%;
  min-height: 0;
  overflow: hidden;
  background: var(--bg);
  color: var(--text);
  font: 13px/1.45 system-ui, "Segoe UI", Roboto, sans-serif;
  font-variant-numeric: tabular-nums;
  -webkit-user-select: text;
  user-select: text;
}
@media (prefers-color-scheme: dark) {
  :host {
    --bg: var(--gw-background, #17181b);
    --card: var(--gw-card, #212327);
    --edge: #ffffff17;
    --text: var(--gw-text, #ececea);
    --quiet: #a0a6b2;
    --hover: #ffffff0d;
    --accent: var(--gw-accent, #8fa8ff);
    --soft: #8fa8ff1f;
    --bad: #ff8287;
    --header: #6d7482;
    --feedback: #a4adbd;
    --new: #7f9bff;
    --repeated: #ffb45c;
    --state: #b794ff;
    --own: #5fce95;
    --good: #5fce95;
  }
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
h1, h2, h3, p, ul, dl, dd, fieldset { margin: 0; padding: 0; border: 0; }
h1 { font-size: 15px; font-weight: 650; }
h2 { font-size: 13px; font-weight: 650; }
h3 { font-size: 13px; font-weight: 600; }
ul { list-style: none; }
button, select, input { font: inherit; color: inherit; }
button { border: 0; background: none; cursor: pointer; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }

.bar-top { display: flex; flex-wrap: wrap; align-items: center; gap: 6px 14px; padding: 10px 16px; border-bottom: 1px solid var(--edge); background: var(--card); }
.room { max-width: 220px; padding: 4px 8px; border: 1px solid var(--edge); border-radius: 8px; background: var(--bg); }
.summary { flex: 1 1 260px; color: var(--quiet); }
.tools { display: flex; flex-wrap: wrap; align-items: center; gap: 6px; }
.record-status { color: var(--quiet); font-size: 12px; }
.quiet, .small { padding: 5px 11px; border: 1px solid var(--edge); border-radius: 8px; background: var(--bg); }
.small { padding: 2px 9px; font-size: 12px; }
.tools a { color: inherit; text-decoration: none; }
.quiet:hover, .small:hover, .choice:hover { background: var(--hover); }
.quiet.on { color: var(--bad); border-color: currentColor; }
:host(.paused) [data-testid="pause"] { background: var(--accent); color: var(--card); border-color: transparent; }
:host(.locked) :is(main > *, .tools, .directions, .room) { display: none; }
.status { padding: 10px 16px; background: var(--soft); }
.missing { color: var(--bad); overflow-wrap: anywhere; }
.status ~ .missing { padding: 10px 16px; }
.token { display: flex; gap: 8px; padding: 10px 16px; background: var(--soft); }
.token input { flex: 0 1 280px; padding: 5px 10px; border: 1px solid var(--edge); border-radius: 8px; background: var(--card); }

.panes { flex: 1; min-height: 0; display: grid; gap: 12px; padding: 12px; overflow: hidden;
  grid-template: "people centre channels" minmax(0, 1fr) "people templates channels" minmax(0, auto) / 232px minmax(0, 1fr) 320px; }
.panes section, .channel-card { border-radius: 12px; background: var(--card); box-shadow: 0 0 0 1px var(--edge); }
.people { grid-area: people; display: flex; flex-direction: column; gap: 10px; padding: 12px; overflow-y: auto; }
.centre { grid-area: centre; display: flex; flex-direction: column; gap: 12px; min-height: 0; padding: 1px; margin: -1px; overflow-y: auto; scrollbar-width: thin; }
.channels { grid-area: channels; overflow-y: auto; padding: 12px; scrollbar-width: thin; }
.panes .channels { background: none; box-shadow: none; padding: 0; }
.channels > h2 { margin: 2px 2px 8px; }
.templates { grid-area: templates; padding: 12px; max-height: min(220px, 24vh); overflow-y: auto; scrollbar-width: thin; }
.lead, .reason, .qos, .empty { color: var(--quiet); font-size: 12px; }
.reason { padding-bottom: 2px; }

.choices { display: flex; flex-direction: column; gap: 2px; margin: 0 -6px; }
.choice { display: grid; grid-template-columns: auto 1fr; align-items: center; gap: 0 8px; padding: 5px 8px; border-radius: 8px; text-align: left; }
.choice .name { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; grid-column: 2; }
.choice .detail { grid-column: 2; color: var(--quiet); font-size: 11.5px; }
.choice .dot { grid-row: 1; grid-column: 1; }
.choice[aria-pressed="true"] { background: var(--soft); box-shadow: inset 2px 0 var(--accent); }
.dot { display: inline-block; width: 9px; height: 9px; margin-right: 6px; border-radius: 50%; }
.choice .dot { margin: 0; }
.facts { display: grid; grid-template-columns: auto 1fr; gap: 2px 10px; padding-top: 8px; border-top: 1px solid var(--edge); font-size: 12px; }
.facts dt { color: var(--quiet); }
.facts dd { text-align: right; }
.emulation { display: flex; flex-direction: column; gap: 6px; padding-top: 8px; border-top: 1px solid var(--edge); }
.emulation legend { float: left; padding: 0; font-weight: 600; }
.slider { display: flex; flex-direction: column; font-size: 12px; }
.slider input { width: 100%; accent-color: var(--accent); }

.packets { flex: none; padding: 12px; }
.packets-head { display: flex; flex-wrap: wrap; align-items: center; gap: 6px 14px; margin-bottom: 10px; }
.directions { display: flex; border-radius: 8px; background: var(--bg); box-shadow: 0 0 0 1px var(--edge); }
.segment-button { padding: 3px 10px; border-radius: 8px; font-size: 12px; color: var(--quiet); }
.segment-button[aria-pressed="true"] { background: var(--accent); color: var(--card); }
.legend { display: flex; flex-wrap: wrap; gap: 2px 12px; margin-left: auto; font-size: 12px; color: var(--quiet); }
.swatch { display: inline-block; width: 10px; height: 10px; margin-right: 5px; border-radius: 3px; }
.header { background: var(--header); }
.feedback { background: var(--feedback); }
.new { background: var(--new); }
.repeated { background: var(--repeated); }
.state { background: var(--state); }
.own { background: var(--own); }
.timeline { display: flex; gap: 8px; }
.scale { display: flex; flex-direction: column; justify-content: space-between; height: 132px; min-width: 54px; text-align: right; font-size: 10.5px; color: var(--quiet); line-height: 1; }
.bars { flex: 1; display: flex; align-items: flex-end; justify-content: flex-end; height: 134px; overflow: hidden; border-bottom: 1px solid var(--edge); border-radius: 4px; background: linear-gradient(var(--edge) 1px, transparent 1px) 0 0 / 100% 66px; }
.bars:empty::before { content: "No packets yet"; margin: auto; color: var(--quiet); font-size: 12px; }
.bar { flex: 0 0 10px; height: 100%; padding: 0 1px; display: flex; flex-direction: column; justify-content: flex-end; cursor: pointer; }
.bar:hover { background: var(--hover); }
.bar.selected { background: var(--soft); box-shadow: inset 0 0 0 1.5px var(--accent); border-radius: 3px; }
.bar .segment { flex: none; min-height: 1px; }
.bar .segment:first-child { border-radius: 2px 2px 0 0; }
.bar.in { opacity: 0.72; }

.packet { flex: 1 0 250px; min-height: 0; display: flex; flex-direction: column; padding: 12px; overflow: hidden; }
.packet-head { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 6px; }
.packet-head .dot { margin: 0; }
.fact { padding: 0 7px; border-radius: 6px; background: var(--soft); color: var(--quiet); font-size: 11.5px; }
.packet-head h3 { margin-right: 6px; }
.sentence { margin: 8px 0; font-size: 15px; line-height: 1.4; }
.stack { display: flex; height: 16px; gap: 1px; border-radius: 5px; overflow: hidden; }
.stack .segment { flex: 1 1 0; min-width: 2px; }
.parts { display: flex; flex-wrap: wrap; gap: 2px 16px; margin: 6px 0 8px; font-size: 12px; color: var(--quiet); }
.parts b { color: var(--text); font-weight: 600; }
.scroll { overflow: auto; min-height: 0; scrollbar-width: thin; }
table { width: 100%; border-collapse: collapse; font-size: 12px; }
th { position: sticky; top: 0; padding: 3px 8px; background: var(--card); text-align: left; font-weight: 500; color: var(--quiet); white-space: nowrap; }
td { padding: 3px 8px; border-top: 1px solid var(--edge); white-space: nowrap; }
td:first-child, th:first-child { padding-left: 0; }
.messages thead td { border: 0; }
.messages td.number { text-align: right; }
.messages th:nth-child(n + 4) { text-align: right; }
.messages .channel { font-weight: 600; }
.messages .ratio { display: inline-block; min-width: 44px; color: var(--quiet); }
.chip { padding: 1px 7px; border-radius: 9px; font-size: 11px; }
.chip.new { background: color-mix(in srgb, var(--new) 22%, var(--card)); }
.chip.repeated { background: color-mix(in srgb, var(--repeated) 30%, var(--card)); }
.chip.state { background: color-mix(in srgb, var(--state) 22%, var(--card)); }
.chip.own { background: color-mix(in srgb, var(--own) 22%, var(--card)); }
.compare { width: 26%; min-width: 80px; }
.compare i { display: block; height: 4px; border-radius: 2px; min-width: 1px; }
.compare .was { background: var(--edge); margin-bottom: 2px; }
.wide { color: var(--quiet); }

.cards { display: flex; flex-direction: column; gap: 10px; padding: 1px; }
.channel-card { padding: 11px 12px; }
.channel-head { display: flex; align-items: center; justify-content: space-between; gap: 8px; }
.channel-head h3 { overflow-wrap: anywhere; }
.qos { margin: 1px 0 7px; }
.figures { display: grid; grid-template-columns: auto 1fr; gap: 1px 12px; font-size: 12px; }
.figure { display: contents; }
.figure[hidden] { display: none !important; }
.figure span { color: var(--quiet); }
.figure b { text-align: right; font-weight: 600; }
.figure .big { color: var(--good); }
.kept { margin-top: 7px; padding-top: 7px; border-top: 1px solid var(--edge); }
.kept:not(:has(.figure:not([hidden]))) { display: none; }
.meter { position: relative; height: 5px; margin-top: 4px; border-radius: 3px; background: var(--edge); }
.meter::before { content: ""; display: block; width: var(--part); height: 100%; border-radius: 3px; background: var(--own); }
.meter.bad::before { background: var(--bad); }
.meter::after { content: ""; position: absolute; left: 50%; top: -2px; width: 2px; height: 9px; margin-left: -1px; border-radius: 1px; background: var(--quiet); }
.bad { color: var(--bad); }
.histogram-title { margin-top: 8px; font-size: 11.5px; color: var(--quiet); }
.histogram { display: flex; align-items: flex-end; gap: 2px; height: 50px; margin-top: 4px; }
.column { flex: 1; display: flex; flex-direction: column; justify-content: flex-end; height: 100%; text-align: center; }
.column i { display: block; min-height: 0; border-radius: 2px 2px 0 0; background: var(--new); }
.column i.late { background: var(--bad); }
.column small { font-size: 9px; line-height: 13px; color: var(--quiet); border-top: 1px solid var(--edge); }

.templates h3 { margin: 8px 0 4px; font-size: 12px; color: var(--quiet); font-weight: 500; }
.template { display: flex; gap: 10px; padding: 3px 0; border-top: 1px solid var(--edge); }
.fits { flex: 0 0 56px; text-align: right; color: var(--quiet); font-size: 12px; }
code { font: 12px/1.6 ui-monospace, "SF Mono", Menlo, Consolas, monospace; overflow-wrap: anywhere; }
.hole { padding: 1px 4px; margin: 0 1px; border-radius: 4px; background: var(--soft); color: var(--accent); cursor: help; }

.glossary { width: min(680px, calc(100vw - 32px)); max-height: calc(100dvh - 48px); padding: 18px 22px; border: 0; border-radius: 14px; background: var(--card); color: var(--text); box-shadow: 0 12px 60px #00000055; }
.glossary::backdrop { background: #00000055; }
.glossary-head { display: flex; justify-content: space-between; align-items: center; margin-bottom: 8px; }
.glossary dl { display: grid; grid-template-columns: minmax(90px, auto) 1fr; gap: 6px 16px; margin-top: 14px; }
.glossary dt { font-weight: 600; }
.glossary dd { color: var(--quiet); }

@media (max-width: 1180px) {
  :host { overflow-y: auto; }
  .panes { display: flex; flex-direction: column; overflow: visible; flex: none; }
  .people, .channels, .templates, .packet { max-height: none; overflow: visible; flex: none; }
  .packet .scroll { max-height: 420px; }
  .choices { flex-direction: row; flex-wrap: wrap; gap: 6px; margin: 0; }
  .choice { box-shadow: 0 0 0 1px var(--edge); }
  .cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(270px, 1fr)); }
}
@media (max-width: 560px) {
  .panes { padding: 8px; gap: 8px; }
  .legend { margin-left: 0; }
  .messages th:nth-child(4), .messages td:nth-child(4), .messages th:nth-child(5), .messages td:nth-child(5), .compare, .messages thead td { display: none; }
  .messages td.wide { display: table-cell; }
  .scale { min-width: 0; }
  .glossary dl { grid-template-columns: 1fr; gap: 0; }
  .glossary dd { margin-bottom: 8px; }
}
`;
