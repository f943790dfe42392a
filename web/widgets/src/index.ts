/** Web components that any application can put into its pages. Importing this registers them. */

import { Inspector } from "./inspector/element";

if (!customElements.get("groupwire-inspector")) customElements.define("groupwire-inspector", Inspector);

export { Inspector };
