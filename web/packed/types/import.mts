// The package's types, as `import` sees them.

import { connect, transaction, type Message, type Room } from "groupwire";
import brotli from "groupwire/brotli";
import codecs from "groupwire/codecs";
import wasm from "groupwire/wasm";

const room: Room<{ name: string }> = connect("wss://example.com", "demo", {
  presence: { name: "Ada" },
  wasm,
  codecs,
  brotli,
});
room.channel("draw", transaction()).on("message", ({ data }: Message) => void (data satisfies string | Uint8Array));
// @ts-expect-error A room's name is a string.
connect("wss://example.com", 1);
