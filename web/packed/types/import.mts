// The package's types, as `import` sees them.

import { connect, transaction, type Message, type Room } from "groupwire";
import brotli from "groupwire/modules/brotli";
import codecs from "groupwire/modules/codecs";
import { devtools } from "groupwire/devtools";
import { forSeeds, simulate, type Simulation } from "groupwire/testing";
import wasm from "groupwire/modules/core";

const room: Room<{ name: string }> = connect("wss://example.com", "demo", {
  presence: { name: "Ada" },
  wasm,
  codecs,
  brotli,
});
room.channel("draw", transaction()).on("message", ({ data }: Message) => void (data satisfies string | Uint8Array));
// @ts-expect-error A room's name is a string.
connect("wss://example.com", 1);

// The devtools take the room, and are taken away again.
const end: () => void = devtools(room, { data: { zoom: 2 } });
end();
document.querySelector("gw-devtools")?.open();
// @ts-expect-error There is no such option.
devtools(room, { values: {} });

// Tests have the same rooms, and as many as they ask for.
const net: Simulation = simulate({ seed: 7, loss: 0.1, durability: "local" });
const [ada, bo] = net.join(2, { presence: { name: "somebody" } });
const same: readonly Room<{ name: string }>[] = [ada, bo, net.join<{ name: string }>({ user: "cy" })];
same.forEach((room) => net.partition(room, 2000));
(net.connect satisfies typeof connect)("wss://example.com", "demo");
await forSeeds(10, (seed: number) => net.run(seed));
// @ts-expect-error Two participants are asked for.
const [, , third] = net.join(2);
