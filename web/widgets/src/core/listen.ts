/** Events of a page. */

/** Listens to some events of a target. Returns a function that ends it. */
export function listen(
  target: EventTarget,
  // Each listener knows the kind of its event.
  listeners: Readonly<Record<string, (event: any) => void>>,
  options: AddEventListenerOptions = {},
): () => void {
  const all = Object.entries(listeners);
  for (const [name, listener] of all) target.addEventListener(name, listener, options);
  return () => {
    for (const [name, listener] of all) target.removeEventListener(name, listener, options);
  };
}

/** A listener that is asked first, and does not hold up scrolling. */
export const FIRST = { capture: true, passive: true };
