/** Events of the page that the session lives in. Outside of a page there are none. */

export interface PageEvents {
  /** The page is active again: timers may be late, and the network may have changed. */
  resumed(): void;
  /** The page is being closed for good: messages that are sent now are the last. */
  pageCloses(): void;
  /** The program has ended, in a simulation: none of its code runs any more. */
  ended(): void;
}

/** Starts to watch the page. Returns a function that stops it. */
export function watchPage(events: PageEvents): () => void {
  if (typeof document === "undefined") return () => {};
  const watch = new AbortController();
  const { signal } = watch;
  const resumed = (): void => events.resumed();
  window.addEventListener("online", resumed, { signal });
  window.addEventListener("pageshow", resumed, { signal });
  // Chromium reports here that the network has changed.
  (navigator as { connection?: EventTarget }).connection?.addEventListener("change", resumed, { signal });
  document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && resumed(), { signal });
  // With `persisted` the page may be shown again from the back-forward cache: its connection is
  // lost then, its session is not.
  window.addEventListener("pagehide", (event) => event.persisted || events.pageCloses(), { signal });
  return () => watch.abort();
}
