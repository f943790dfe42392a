/** The administration of a server, as a web component. Importing this module registers it. */

import { Administration } from "./admin/element.js";
import { define } from "./core/define.js";

define("gw-administration", Administration);

export { Administration };
