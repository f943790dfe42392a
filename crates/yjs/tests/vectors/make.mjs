// Makes documents.txt, the vectors that the tests compare with, by Yjs itself: updates of random
// documents, and what Yjs merges of them, and cuts off by state vectors. Run it after `npm ci
// --prefix web`: node crates/yjs/tests/vectors/make.mjs

import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { random } from "../../../../web/e2e/random.mjs";

const require = createRequire(new URL("../../../../web/yjs/package.json", import.meta.url));
const Y = await import(pathToFileURL(require.resolve("yjs")).href).then((module) => module.default ?? module);

const hex = (bytes) => Buffer.from(bytes).toString("hex");

/** Some participants edit a document, and hear of each other now and then. */
function session(seed) {
  const next = random(seed);
  const below = (limit) => Math.floor(next() * limit);
  const updates = [];
  const docs = [1, 77, 2 ** 32 - 1 - seed, 2 ** 53 - 1 - seed].slice(0, 1 + below(4)).map((clientID) => {
    // The guid only matters in subdocuments.
    const doc = Object.assign(new Y.Doc({ gc: seed % 2 === 0, guid: `doc ${clientID}` }), { clientID });
    doc.on("update", (update, origin) => origin !== "remote" && updates.push(update));
    return doc;
  });
  for (let step = 0; step < 30; step += 1) {
    const doc = docs[below(docs.length)];
    doc.transact(() => {
      for (let count = 1 + below(3); count > 0; count -= 1) edit(doc, below, `${seed}-${step}-${count}`);
    });
    if (next() < 0.2) exchange(docs);
  }
  exchange(docs);
  return { updates, doc: docs[0] };
}

function edit(doc, below, name) {
  const text = doc.getText("text");
  const list = doc.getArray("list");
  const map = doc.getMap("map");
  const fragment = doc.getXmlFragment("xml");
  const values = [
    undefined,
    null,
    true,
    false,
    0,
    -0,
    1,
    -64,
    1e9,
    -(2 ** 31),
    2 ** 40,
    0.5,
    0.1,
    Infinity,
    12345678901234567890n,
    "ü€😀",
    [],
    [1, [2, { a: null }]],
    { nested: { deep: [name] } },
    new Uint8Array([1, 2, 3]),
  ];
  const edits = [
    () => text.insert(below(text.length + 1), ["a", "word ", "ü€", "😀😀", name][below(5)]),
    () => text.insert(below(text.length + 1), ["a", "word ", "ü€", "😀😀", name][below(5)]),
    () => text.length > 1 && text.delete(below(text.length - 1), 1 + below(2)),
    () => text.length > 1 && text.format(below(text.length - 1), 1, { bold: [true, null, { size: 1 }][below(3)] }),
    () => text.insertEmbed(below(text.length + 1), { image: name }),
    () => map.set(`key ${below(3)}`, values[below(values.length)]),
    () => map.delete(`key ${below(3)}`),
    () => map.set("type", [new Y.Map(), new Y.Array(), new Y.Text(name), new Y.XmlText("x")][below(4)]),
    () => map.set("subdocument", new Y.Doc({ guid: name, meta: { title: name }, autoLoad: true })),
    () =>
      list.insert(
        below(list.length + 1),
        values.slice(below(values.length)).filter((value) => value !== undefined && typeof value !== "bigint"),
      ),
    () => list.length > 1 && list.delete(below(list.length - 1), 1 + below(2)),
    () => fragment.insert(0, [new Y.XmlElement("p"), new Y.XmlText(name), new Y.XmlHook("hook")]),
    () => fragment.length > 0 && fragment.get(0) instanceof Y.XmlElement && fragment.get(0).setAttribute("id", name),
  ];
  edits[below(edits.length)]();
}

function exchange(docs) {
  for (const from of docs)
    for (const to of docs) Y.applyUpdate(to, Y.encodeStateAsUpdate(from, Y.encodeStateVector(to)), "remote");
}

function vector(seed) {
  const next = random(seed + 1000);
  const { updates, doc } = session(seed);
  const all = Y.mergeUpdates(updates);
  const some = updates.filter(() => next() < 0.5);
  const part = some.length > 0 ? Y.mergeUpdates(some) : new Uint8Array([0, 0]);
  const clocks = [...Y.decodeStateVector(Y.encodeStateVectorFromUpdate(all))];
  const since = Y.encodeStateVector(
    new Map(clocks.map(([client, clock]) => [client, Math.floor(next() * (clock + 2))])),
  );
  const deleted = [...Y.createDeleteSetFromStructStore(doc.store).clients];
  return {
    updates: updates.map(hex),
    merged: hex(all),
    // A part of the updates, with gaps between them.
    some: some.map(hex),
    part: hex(part),
    partStateVector: hex(Y.encodeStateVectorFromUpdate(part)),
    stateVector: hex(Y.encodeStateVectorFromUpdate(all)),
    since: hex(since),
    difference: hex(Y.diffUpdate(all, since)),
    document: hex(Y.encodeStateAsUpdate(doc)),
    documentSince: hex(Y.encodeStateAsUpdate(doc, since)),
    // A client, then the first clock of each range, and the clock after its last one.
    deletions: deleted.map(([client, ranges]) => [client, ...ranges.map(({ clock, len }) => `${clock}-${clock + len}`)].join(":")),
  };
}

/** A line for each value, with its name before it. */
function lines(vector) {
  return Object.entries(vector).map(([name, value]) => [name, ...[value].flat()].join(" "));
}

const vectors = Array.from({ length: 12 }, (_, seed) => lines(vector(seed)).join("\n"));
writeFileSync(new URL("documents.txt", import.meta.url), `${vectors.join("\n\n")}\n`);
