/** The inspector of packets, as a web component. Importing this module registers it. */

import { define } from "./core/define.js";
import { Inspector } from "./inspector/element.js";

define("gw-inspector", Inspector);

export { Inspector };
