// Node 20 has no WebSocket of its own; the code of the pages is written for browsers, which do.
import { WebSocket } from "ws";

Object.assign(globalThis, { WebSocket: globalThis.WebSocket ?? WebSocket });
