// The package's types, as `require` sees them.

import groupwire = require("groupwire");
import devtools = require("groupwire/devtools");
import wasm = require("groupwire/modules/core");

const room: groupwire.Room = groupwire.connect("wss://example.com", "demo", { wasm });
room.channel("draw", groupwire.awareness({ maxRate: 25 })).send({ x: 1 });
devtools.devtools(room)();
// @ts-expect-error There is no such setting.
groupwire.transaction({ compress: "best" });
