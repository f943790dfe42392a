// The pages that are tested in each browser engine. A page's module is a function of the engine
// that returns tests by their names; each gets the stage of run.mjs. A new page is one more line
// here.

import { client } from "./pages/client.mjs";
import { whiteboard } from "./pages/whiteboard.mjs";

export const PAGES = { client, whiteboard };
