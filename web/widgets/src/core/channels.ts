/** Channels that several widgets open. */

import { awareness } from "groupwire";

/** The QoS of the cursors' channel: whoever opens a channel first decides, so all widgets open it alike. */
export const CURSOR = awareness({ maxRate: 25, loss: 0.05, deadline: 250 });
