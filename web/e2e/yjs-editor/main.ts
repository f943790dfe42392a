/**
 * An editor with CodeMirror's binding of Yjs, on groupwire-yjs, or on y-websocket with
 * `door=socket`. The address has the server, a name and a color.
 */

import { EditorState } from "@codemirror/state";
import { keymap } from "@codemirror/view";
import { EditorView, minimalSetup } from "codemirror";
import { connect } from "groupwire";
import { GroupwireProvider } from "groupwire-yjs";
import { yCollab, yUndoManagerKeymap } from "y-codemirror.next";
import { IndexeddbPersistence } from "y-indexeddb";
import { WebsocketProvider } from "y-websocket";
import * as Y from "yjs";

const { searchParams } = new URL(location.href);
const [server, name, color] = ["server", "name", "color"].map((key) => searchParams.get(key) ?? "");
const element = (id: string): HTMLElement => document.getElementById(id) as HTMLElement;

const doc = new Y.Doc();
const text = doc.getText("notes");
const kept = new IndexeddbPersistence("notes", doc);
const provider =
  searchParams.get("door") === "socket"
    ? new WebsocketProvider(`${server?.replace("http", "ws")}/yjs`, "notes", doc)
    : new GroupwireProvider(() => connect(server as string, "notes"), doc);
const awareness = provider.awareness!;
/** The provider of y-websocket does not report whether changes are saved. */
const saved = (): boolean => !("saved" in provider) || provider.saved;
awareness.setLocalStateField("user", { name, color, colorLight: `${color}40` });

const undoManager = new Y.UndoManager(text);
const state = EditorState.create({
  doc: text.toString(),
  // The keys of Yjs' undo come before those of CodeMirror's own, which would take back what others
  // wrote, too.
  extensions: [
    keymap.of(yUndoManagerKeymap),
    minimalSetup,
    EditorView.lineWrapping,
    yCollab(text, awareness, { undoManager }),
  ],
});
const view = new EditorView({ state, parent: element("editor") });

function showSaved(): void {
  element("saved").textContent = !provider.wsconnected ? "Offline" : saved() ? "Saved" : "Saving…";
}
if ("saved" in provider) provider.on("saved", showSaved);
provider.on("status", showSaved);
showSaved();

function showPeople(): void {
  const people = [...awareness.getStates().values()].map(({ user }) => user as { name: string; color: string });
  const items = people.filter(Boolean).map(({ name, color }) => {
    const item = document.createElement("li");
    item.textContent = name;
    item.style.setProperty("--color", color);
    return item;
  });
  element("people").replaceChildren(...items);
}
awareness.on("change", showPeople);
showPeople();

/** What the test reads. */
Object.assign(window, {
  seen: {
    status: () => (provider.wsconnected ? "connected" : "disconnected"),
    text: () => text.toString(),
    shown: () => view.state.doc.toString(),
    saved: () => saved() && provider.synced,
    /** Resolves when all changes before are in IndexedDB. */
    kept: () => kept.set("written", Date.now()).then(() => true),
  },
});
