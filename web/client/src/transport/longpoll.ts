/** A held request, answered when there is something. */

import { ask } from "./polling.js";

export const longpoll = ask("longpoll", 0);
