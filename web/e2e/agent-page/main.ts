/**
 * A shared list and a Yjs text in one room. The address has the server and a name. The test makes
 * the edits, by numbers from its seed.
 */

import { connect } from "groupwire";
import { list as listOf, shared } from "groupwire/shared";
import { GroupwireProvider } from "groupwire-yjs";
import * as Y from "yjs";

const { searchParams } = new URL(location.href);
const [server, name] = ["server", "name"].map((key) => searchParams.get(key) ?? "");
const element = (id: string): HTMLElement => document.getElementById(id) as HTMLElement;

const room = connect(server as string, "plan", { presence: { name } });
const { tasks: list } = shared({ tasks: listOf() }).open(room);
const doc = new Y.Doc();
const provider = new GroupwireProvider(room, doc);
provider.awareness?.setLocalStateField("user", { name });
const text = doc.getText("notes");

function show(): void {
  const items = list.value.map((task) => Object.assign(document.createElement("li"), { textContent: task }));
  element("list").replaceChildren(...items);
  element("text").textContent = text.toString();
}
list.subscribe(show);
text.observe(show);

/** The edit that the number `which` stands for. `place` is from 0 up to 1. */
function edit(which: number, place: number, words: string): void {
  const at = (length: number): number => Math.floor(place * length);
  const { ids } = list;
  const id = ids[at(ids.length)];
  const edits = [
    () => list.insert(at(ids.length + 1), words),
    () => id !== undefined && list.set(id, words),
    () => id !== undefined && list.move(id, at(ids.length)),
    () => id !== undefined && ids.length > 5 && list.delete(id),
    () => text.insert(at(text.length + 1), `${words} `),
    () => text.insert(at(text.length + 1), "\n"),
    () => text.length > 200 && text.delete(at(text.length - 8), 8),
  ];
  edits[which % edits.length]?.();
}

/** What the test reads, and how it edits. */
Object.assign(window, {
  seen: {
    status: () => room.status,
    list: () => list.value,
    text: () => text.toString(),
    /** What the page itself shows. */
    shown: () => [[...document.querySelectorAll("li")].map((item) => item.textContent), element("text").textContent],
    saved: () => provider.saved && provider.synced && room.pending === 0,
    users: () => [...(provider.awareness?.getStates().values() ?? [])].map(({ user, cursor }) => ({ user, cursor })),
    people: () => [...room.participants.values()].map(({ presence }) => presence),
    edit,
  },
});
