// The pages in WebKitGTK.

import { testIn } from "./run.mjs";
import { WEBKITGTK } from "./webkitgtk.mjs";

testIn(WEBKITGTK);
