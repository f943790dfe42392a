/** The demonstrations by their names. Each is loaded when it is shown. */

import type { Kind } from "./kind.js";

export const KINDS: Readonly<Record<string, () => Promise<Kind>>> = {
  pointers: async () => (await import("./kinds/pointers.js")).pointers,
  list: async () => (await import("./kinds/list.js")).sharedList,
  locks: async () => (await import("./kinds/locks.js")).locks,
  text: async () => (await import("./kinds/text.js")).text,
  restart: async () => (await import("./kinds/restart.js")).restart,
};
