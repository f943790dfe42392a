/**
 * What the pages of the administration listener share: `?room=NAME` selects the room,
 * `#token=TOKEN` is the token of the administration. Browsers do not send what follows `#`.
 */

/** Puts a widget into the page, and keeps the room that it shows in the address. */
export function open(widget: HTMLElement & { readonly room: string }): void {
  const address = new URL(location.href);
  widget.setAttribute("server", "../");
  const token = new URLSearchParams(address.hash.slice(1)).get("token");
  if (token) widget.setAttribute("token", token);
  const room = address.searchParams.get("room");
  if (room) widget.setAttribute("room", room);
  widget.addEventListener("room", () => {
    if (widget.room === "") address.searchParams.delete("room");
    else address.searchParams.set("room", widget.room);
    history.replaceState(null, "", address);
  });
  document.body.append(widget);
}
