/** The editor: CodeMirror, with colours that follow the page. */

import { javascript } from "@codemirror/lang-javascript";
import { ensureSyntaxTree, HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { EditorView, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { minimalSetup } from "codemirror";
import { CodeError } from "./run.js";

const theme = EditorView.theme({
  "&": { height: "100%", backgroundColor: "var(--surface)", color: "var(--text)", fontSize: "13px" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "ui-monospace, Menlo, Consolas, monospace", lineHeight: "1.5", overflow: "auto" },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--ground)", color: "var(--quiet)", borderRight: "1px solid var(--edge)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "light-dark(#cfd9ff, #35406b) !important",
  },
});

const colors = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword], color: "light-dark(#7a2e9e, #d5a6ff)" },
  { tag: [tags.string, tags.special(tags.string)], color: "light-dark(#17693f, #8fe0b4)" },
  { tag: [tags.number, tags.bool, tags.null], color: "light-dark(#9a4a00, #ffc27a)" },
  { tag: tags.comment, color: "var(--quiet)", fontStyle: "italic" },
  {
    tag: [tags.definition(tags.variableName), tags.function(tags.variableName)],
    color: "light-dark(#3552c4, #9db2ff)",
  },
]);

export interface Editor {
  readonly code: string;
  setCode(code: string): void;
  /** Throws a {@link CodeError} with the line of the first fault. */
  check(): void;
  end(): void;
}

/** Shows an editor in `parent`. `run` is called for Ctrl+Enter, and Cmd+Enter on a Mac. */
export function showEditor(parent: HTMLElement, root: ShadowRoot, code: string, run: () => void): Editor {
  const runKey = keymap.of([{ key: "Mod-Enter", run: () => (run(), true) }]);
  // What scrolls must be reachable by the keyboard: checkers of accessibility look for a tabindex.
  const label = EditorView.contentAttributes.of({ "aria-label": "Code that runs in both windows", tabindex: "0" });
  const extensions = [runKey, lineNumbers(), minimalSetup, javascript(), syntaxHighlighting(colors), theme, label];
  const view = new EditorView({ state: EditorState.create({ doc: code, extensions }), parent, root });
  return {
    get code() {
      return view.state.doc.toString();
    },
    setCode: (text) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } }),
    check: () => check(view.state),
    end: () => view.destroy(),
  };
}

/** The most milliseconds that the code is read for faults. */
const CHECK_MS = 5000;

function check(state: EditorState): void {
  let fault: number | undefined;
  // The editor's own tree may end before the code does, as if something were missing there.
  ensureSyntaxTree(state, state.doc.length, CHECK_MS)?.iterate({
    enter: ({ type, from }) => {
      if (type.isError) fault ??= from;
    },
  });
  if (fault === undefined) return;
  const { number, text } = state.doc.lineAt(fault);
  const rest = text.slice(fault - state.doc.lineAt(fault).from).trim();
  throw new CodeError(
    `this is not JavaScript${rest ? `, from \`${rest.slice(0, 30)}\` on` : ": something is missing before the end"}`,
    number,
  );
}
