export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));
}

const { port1, port2 } = new MessageChannel();

/** Lets the browser run its waiting tasks, without the pause of 4 ms that timers have. */
export function turn(): Promise<void> {
  return new Promise((resolve) => {
    port1.addEventListener("message", () => resolve(), { once: true });
    port1.start();
    port2.postMessage(null);
  });
}
