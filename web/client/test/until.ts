/** Waits for a condition. */

import { vi } from "vitest";

/** Ends tests that hang, in milliseconds. No test reaches it, even on a busy machine. */
const PATIENCE_MS = 60_000;

/**
 * Waits until `check` returns a truthy value, and returns that value. Fake timers advance by
 * `interval` milliseconds each time.
 */
export function until<T>(check: () => T, interval = 5): ReturnType<typeof vi.waitUntil<T>> {
  return vi.waitUntil(check, { timeout: PATIENCE_MS, interval });
}
