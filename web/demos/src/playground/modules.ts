/** What the reader's code may import. */

import * as motion from "groupwire/motion";
import * as schema from "groupwire/schema";
import * as shared from "groupwire/shared";
import { awareness, transaction } from "groupwire/testing/page";
import * as zod from "zod";
import type { Modules } from "./run.js";

export const MODULES: Modules = {
  // `connect` is that of the window's simulation.
  groupwire: { awareness, transaction },
  "groupwire/motion": motion,
  "groupwire/schema": schema,
  "groupwire/shared": shared,
  zod: { z: zod.z },
};
