/**
 * The style sheet of the administration, after that of the inspector, whose colours and controls it
 * uses.
 */

export const ADMIN_STYLES = /* css */ `
:host { overflow-y: auto; }
:host { --line-0: #4060d8; --line-1: #e08a1e; --line-2: #2c9a63; }
@media (prefers-color-scheme: dark) { :host { --line-0: #8fa8ff; --line-1: #ffb45c; --line-2: #5fce95; } }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.bar-top .directions { margin: 0; }
.danger { padding: 5px 11px; border: 1px solid var(--edge); border-radius: 8px; background: var(--bg); color: var(--bad); }
.danger:hover { background: var(--hover); }
button:disabled { opacity: 0.5; cursor: not-allowed; }
a.quiet { color: inherit; text-decoration: none; }

.pages { padding: 16px; display: flex; flex-direction: column; gap: 14px; max-width: 1280px; width: 100%; margin: 0 auto; }
.card, .chart { margin: 0; padding: 12px 14px; border-radius: 12px; background: var(--card); box-shadow: 0 0 0 1px var(--edge); }
.head { display: flex; flex-wrap: wrap; align-items: center; gap: 6px 12px; }
.head h2 { flex: 1 1 auto; font-size: 15px; overflow-wrap: anywhere; }
.card > h2, .card > .head { margin-bottom: 8px; }
.card > h3 { margin: 12px 0 4px; color: var(--quiet); font-weight: 500; }

.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 430px), 1fr)); gap: 14px; }
.chart figcaption { display: flex; flex-wrap: wrap; align-items: baseline; gap: 2px 12px; margin-bottom: 8px; }
.chart small { color: var(--quiet); font-weight: 400; font-size: 12px; }
.chart .legend b { display: inline-block; min-width: 58px; color: var(--text); font-weight: 600; }
.plot { display: flex; gap: 8px; }
.axis { flex: 0 0 62px; display: flex; flex-direction: column; justify-content: space-between; height: 120px; text-align: right; font-size: 11px; line-height: 1; color: var(--quiet); }
.axis span:nth-child(2) { transform: translateY(0); }
.plot svg { flex: 1; min-width: 0; height: 120px; border-bottom: 1px solid var(--quiet); touch-action: pan-y; }
.grid { stroke: var(--edge); stroke-width: 1; vector-effect: non-scaling-stroke; }
.line { fill: none; stroke-width: 1.8; stroke-linejoin: round; stroke-linecap: round; vector-effect: non-scaling-stroke; }
/* The first line is wider, so that it is seen below another one. */
.line-0 { stroke: var(--line-0); stroke-width: 3; } .line-1 { stroke: var(--line-1); } .line-2 { stroke: var(--line-2); }
.swatch-0 { background: var(--line-0); } .swatch-1 { background: var(--line-1); } .swatch-2 { background: var(--line-2); }
.cursor { stroke: var(--quiet); stroke-dasharray: 3 3; vector-effect: non-scaling-stroke; }
.time { display: flex; justify-content: space-between; margin: 4px 0 0 70px; font-size: 11px; color: var(--quiet); }

.search { flex: 0 1 240px; min-width: 0; padding: 5px 10px; border: 1px solid var(--edge); border-radius: 8px; background: var(--bg); }
.pages table { font-size: 13px; }
.pages th, .pages td { padding: 5px 10px; }
.pages thead td { border: 0; }
.pages .number { text-align: right; }
.pages td:first-child, .pages th:first-child { padding-left: 0; }
.pages td:last-child, .pages th:last-child { padding-right: 0; }
.missing { margin-bottom: 8px; }
.rooms td:first-child { white-space: normal; overflow-wrap: anywhere; }
.link { padding: 2px 0; color: var(--accent); text-align: left; overflow-wrap: anywhere; }
.link:hover { text-decoration: underline; }
.row-actions { display: flex; justify-content: flex-end; gap: 6px; }
.empty { padding: 8px 0 2px; }
.room-view { display: flex; flex-direction: column; gap: 12px; }
.room-view > .lead { margin-top: -6px; }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 430px), 1fr)); gap: 14px; align-items: start; }
.contents { overflow: hidden; }
.content { display: block; max-width: 620px; white-space: normal; overflow-wrap: anywhere; }
.contents td { vertical-align: top; }

.publish { margin-top: 10px; }
.publish textarea { display: block; width: 100%; padding: 7px 10px; border: 1px solid var(--edge); border-radius: 8px; background: var(--bg); color: var(--text); font: inherit; resize: vertical; }
.publish .answers { margin-top: 8px; align-items: center; }
.publish input { padding: 4px 8px; border: 1px solid var(--edge); border-radius: 8px; background: var(--bg); }

.question { width: min(440px, calc(100vw - 32px)); padding: 18px 20px; border: 0; border-radius: 14px; background: var(--card); color: var(--text); box-shadow: 0 12px 60px #00000055; }
.question::backdrop { background: #00000066; }
.question h2 { font-size: 15px; margin-bottom: 8px; overflow-wrap: anywhere; }
.question label { display: block; margin-top: 12px; }
.question input { display: block; width: 100%; margin-top: 6px; padding: 7px 10px; border: 1px solid var(--quiet); border-radius: 8px; background: var(--bg); }
.answers { display: flex; justify-content: flex-end; gap: 8px; margin-top: 16px; }

@media (max-width: 560px) {
  .pages { padding: 10px; }
  .pages th, .pages td { padding: 5px 6px; }
  .minor { display: none; }
  .axis { flex-basis: 50px; }
  .time { margin-left: 58px; }
  .content { max-width: none; min-width: 120px; }
}
`;
