/** Long polling: a request that the server answers when it has a packet. */

import { ask } from "./polling.js";

export const longpoll = ask("longpoll", 0);
