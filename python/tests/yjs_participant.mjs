// A participant with the npm package groupwire-yjs in Node, for test_yjs.py: it reads commands as
// lines of JSON, and answers each with a line.

import { createInterface } from "node:readline";
import { connect } from "../../web/client/dist/node.js";
import { GroupwireProvider } from "../../web/yjs/dist/index.js";
import * as Y from "../../web/node_modules/yjs/dist/yjs.mjs";

const doc = new Y.Doc();
const text = doc.getText("text");
const map = doc.getMap("map");
let room;
let provider;

const COMMANDS = {
  join({ url, name }) {
    room = connect(url, name);
    room.on("error", (error) => process.stderr.write(`${error.code}: ${error.message}\n`));
    provider = new GroupwireProvider(room, doc);
  },
  /** `at` and `count` are shares of the text, so that the caller need not know its length. */
  insert: ({ at, text: inserted }) => text.insert(Math.floor(at * (text.length + 1)), inserted),
  delete({ at, count }) {
    const begin = Math.floor(at * text.length);
    text.delete(begin, Math.min(count, text.length - begin));
  },
  format({ at, bold }) {
    if (text.length > 0) text.format(Math.floor(at * text.length), 1, { bold });
  },
  put: ({ key, value }) => map.set(key, value),
  show: ({ field, value }) => provider.awareness.setLocalStateField(field, value),
  state: () => ({
    isSynced: provider.synced,
    isSaved: provider.saved,
    text: text.toString(),
    map: map.toJSON(),
    vector: Buffer.from(Y.encodeStateVector(doc)).toString("base64"),
    states: Object.fromEntries(provider.awareness.getStates()),
  }),
  leave: () => room.leave(),
};

for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line);
  let answer;
  try {
    answer = (await COMMANDS[command.do](command)) ?? {};
  } catch (error) {
    answer = { error: String(error.stack) };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
process.exit(0);
