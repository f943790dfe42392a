/** Polling: a request at a fixed interval. It works in every browser. */

import { ask } from "./polling.js";

/**
 * T15: 100 ms costs ten small requests a second, and delays a pointer (25 positions a second) by 50
 * ms on average.
 */
export const poll = ask("poll", 100);
