// What the first page replays: a part of the recording in samples/, made small.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { read, ROOT } from "./repository.mjs";

/** The part, in ms: three people draw boxes with words, draw arrows, and move ellipses. */
const FROM = 5_300;
const TO = 63_500;

/**
 * { length, events }: its length in ms, and in time order [ms, person, kind, value], where a value
 * is `[x, y]` of a pointer, `[id, shape]` of what is drawn, `[id, color, x, y]` of a pen, and
 * `[id, { x, y }]` of what is moved.
 */
export function recording() {
  const rows = read("samples/whiteboard.tsv").trim().split("\n").slice(1);
  const messages = records(readFileSync(join(ROOT, "samples/whiteboard.bin")));
  const events = rows.flatMap((row, at) => {
    const [time, person, channel] = row.split("\t");
    if (time < FROM || time > TO) return [];
    const ms = Math.round(time - FROM);
    return changes(channel, messages[at]).map(([kind, value]) => [ms, Number(person), kind, value]);
  });
  return { length: TO - FROM, events };
}

/** The messages of a recording: each is a length in 4 bytes and JSON. */
function records(bytes) {
  const found = [];
  for (let at = 0; at < bytes.length;) {
    const length = bytes.readUInt32LE(at);
    found.push(JSON.parse(bytes.toString("utf8", at + 4, at + 4 + length)));
    at += 4 + length;
  }
  return found;
}

/** What a message changes on the board. Coordinates are rounded to whole pixels. */
function changes(channel, message) {
  const shape = ({ kind, x, y, w, h, color, text, points }) => ({ kind, x, y, w, h, color, text, points });
  switch (channel) {
    case "pointer":
      return [["pointer", [Math.round(message.x), Math.round(message.y)]]];
    case "drag":
      return message.new ? [["shape", [message.id, shape(message.new)]]] : [["move", [message.id, message.look]]];
    case "stroke":
      return [["pen", [message.id, message.color, ...message.points.map(Math.round)]]];
    default:
      return [
        ...(message.add ?? []).map(([id, added]) => ["shape", [id, shape(added)]]),
        ...(message.set ?? []).map((moved) => ["move", moved]),
      ];
  }
}
