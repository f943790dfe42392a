// Builds the demonstrations, unless the testing kit is left out, of which they are made
// (scripts/build.sh).

import { build } from "vite";

if (!process.env.GROUPWIRE_WITHOUT_TESTING) await build({ root: import.meta.dirname, logLevel: "warn" });
