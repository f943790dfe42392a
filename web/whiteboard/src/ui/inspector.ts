/** The inspector below the board (`?inspect`), which shows the packets of this room. */

import "../styles/inspector.css";
import { Inspector } from "groupwire-widgets";
import { button, make } from "../../../common/ui/dom";

export function showInspector(room: string): void {
  const drawer = make("aside", "inspector-drawer");
  drawer.dataset.testid = "inspector";
  drawer.ariaLabel = "Inspector";
  const inspector = new Inspector();
  inspector.setAttribute("room", room);
  const close = button({ icon: "close", label: "Close the inspector", testid: "inspector-close", onPress: leave });
  drawer.append(inspector, close);
  document.body.append(drawer);
  document.body.classList.add("has-inspector");

  function leave(): void {
    drawer.remove();
    document.body.classList.remove("has-inspector");
    const address = new URL(location.href);
    address.searchParams.delete("inspect");
    history.replaceState(null, "", address);
    dispatchEvent(new Event("resize"));
  }
}
