// The declarations of Node that src/node.ts and src/testing.ts need. Those of @types/node would
// declare Node's globals for all files.
declare module "node:fs/promises" {
  export function readFile(path: URL): Promise<Uint8Array<ArrayBuffer>>;
}
declare module "node:module" {
  export function createRequire(file: string): (name: string) => unknown;
}
declare module "node:timers" {
  export function setImmediate(run: () => void): unknown;
}
declare module "node:v8" {
  export function setFlagsFromString(flags: string): void;
}
