/** The administration of a server, as a web component. Importing this module registers it. */

import { Administration } from "./admin/element";

if (!customElements.get("groupwire-administration")) customElements.define("groupwire-administration", Administration);

export { Administration };
