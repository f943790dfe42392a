// Sessions over the transports with a connection of their own.

import { Network } from "./network.mjs";
import { testTransport } from "./transports.mjs";

const network = new Network();

for (const name of ["webtransport", "websocket"]) testTransport(network, name);
