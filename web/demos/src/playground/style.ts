/** The look of the playground, and of what the reader's code shows in a window. */

export const PLAYGROUND_STYLE = `
.split { display: grid; grid-template-columns: minmax(0, 1.2fr) minmax(0, 1fr); gap: 12px; }
.editor { height: 30rem; border: 1px solid var(--edge); border-radius: 10px; overflow: hidden; background: var(--surface); }
.right { display: flex; flex-direction: column; gap: 12px; min-width: 0; }
.right .windows { grid-template-columns: minmax(0, 1fr); flex: 1; }
.right .body { display: block; max-height: 14rem; overflow: auto; }
.problem { padding: 8px 12px; border-radius: 8px; background: var(--bad-soft); color: var(--bad); overflow-wrap: anywhere; }
.problem:empty { display: none; }
.panel { grid-template-columns: minmax(0, 1fr) minmax(0, 1.3fr); }
@container (max-width: 760px) {
  .split { grid-template-columns: minmax(0, 1fr); }
  .editor { height: 22rem; }
}
@container (max-width: 540px) {
  .panel { grid-template-columns: minmax(0, 1fr); }
}
`;

export const WINDOW_STYLE = `
* { box-sizing: border-box; font: inherit; color: inherit; }
form, label { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; }
form input { flex: 1 1 8rem; min-width: 0; }
input:not([type="checkbox"]), button { background: var(--surface); border: 1px solid var(--edge); border-radius: 8px; padding: 4px 10px; min-height: 34px; }
button { cursor: pointer; }
button:disabled { color: var(--quiet); border-style: dashed; cursor: default; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
ul { padding-left: 1.2rem; margin: 0 0 8px; }
p { margin: 8px 0 0; }
#plane { background: var(--ground); border: 1px dashed var(--edge); border-radius: 8px; padding: 8px; overflow: hidden; touch-action: none; }
`;
