/** The page around the inspector. */

import { Inspector } from "groupwire-widgets/inspector";
import { open } from "./page";

const inspector = new Inspector();
inspector.setAttribute("administration", "admin.html");
open(inspector);
