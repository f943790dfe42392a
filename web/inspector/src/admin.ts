/** The page around the administration. */

import { Administration } from "groupwire-widgets/administration";
import { open } from "./page";

open(new Administration());
