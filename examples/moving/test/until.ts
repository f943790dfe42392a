/** Waits until a condition holds; an error says what the value was in the end. */
export async function until<Value>(read: () => Value, isRight: (value: Value) => boolean): Promise<Value> {
  const end = performance.now() + 60_000;
  for (;;) {
    const value = read();
    if (isRight(value)) return value;
    if (performance.now() > end) throw new Error(`not within a minute; it was ${JSON.stringify(value)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Waits until a value is equal to another one as JSON. */
export async function untilEqual(read: () => unknown, expected: unknown): Promise<void> {
  const text = JSON.stringify(expected);
  await until(
    () => JSON.stringify(read()),
    (value) => value === text,
  );
}
