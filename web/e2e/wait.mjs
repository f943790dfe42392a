/** Waits until `check` returns a truthy value, and returns that value. */
export async function until(what, check, timeout = 10_000) {
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
