/** Web components for any application. Importing this module registers them. */

import { Inspector } from "./inspector/element";

if (!customElements.get("groupwire-inspector")) customElements.define("groupwire-inspector", Inspector);

export { Inspector };
