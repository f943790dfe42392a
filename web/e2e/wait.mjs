/** Ends tests that hang. No test reaches it, even on a busy machine: tests do not measure time. */
export const PATIENCE_MS = 60_000;

/** Waits until `check` returns a truthy value, and returns that value. */
export async function until(what, check, timeout = PATIENCE_MS) {
  const end = performance.now() + timeout;
  for (;;) {
    const result = await check();
    if (result) return result;
    if (performance.now() > end) throw new Error(`not within ${timeout} ms: ${what}`);
    await pause(20);
  }
}

export function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
