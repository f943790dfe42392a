/** A request every so often: works wherever pages do. */

import { ask } from "./polling.js";

/** T15: half the time that an ordinary pointer (25 a second) has to be seen in, and ten small requests a second. */
export const poll = ask("poll", 100);
