// Sessions over transports that ask again and again.

import { Network } from "./network.mjs";
import { testTransport } from "./transports.mjs";

const network = new Network();

for (const name of ["longpoll", "poll"]) testTransport(network, name);
