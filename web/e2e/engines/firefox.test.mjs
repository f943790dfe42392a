// The pages in Firefox.

import { FIREFOX } from "./firefox.mjs";
import { testIn } from "./run.mjs";

testIn(FIREFOX);
