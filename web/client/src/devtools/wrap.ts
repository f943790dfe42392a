/**
 * Replaces a method of one object. `around` makes the new method from the old one. Returns a
 * function that brings the old one back.
 */
export function wrap<Target extends object, Name extends keyof Target>(
  target: Target,
  name: Name,
  around: (method: Target[Name]) => Target[Name],
): () => void {
  const own = Object.getOwnPropertyDescriptor(target, name);
  const method = target[name] as (...all: unknown[]) => unknown;
  target[name] = around(method.bind(target) as Target[Name]);
  return () => {
    if (own) Object.defineProperty(target, name, own);
    else Reflect.deleteProperty(target, name);
  };
}
