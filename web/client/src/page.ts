/** What happens to the page that the session lives in. Nothing does where there is no page. */

export interface PageEvents {
  /** Timers may have slept, the network may be another: look at the clock, and around. */
  woke(): void;
  /** The page goes for good: this is the last chance to say something. */
  goes(): void;
}

/** Returns a function that ends the watch. */
export function watchPage(events: PageEvents): () => void {
  if (typeof document === "undefined") return () => {};
  const watch = new AbortController();
  const { signal } = watch;
  const woke = (): void => events.woke();
  window.addEventListener("online", woke, { signal });
  window.addEventListener("pageshow", woke, { signal });
  // Chromium tells when the network is another one.
  (navigator as { connection?: EventTarget }).connection?.addEventListener("change", woke, { signal });
  document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && woke(), { signal });
  // `persisted`: it may be shown again from the back-forward cache. Its connection is lost then, the session is not.
  window.addEventListener("pagehide", (event) => event.persisted || events.goes(), { signal });
  return () => watch.abort();
}
