// The declarations of Node that src/node.ts needs. Those of @types/node would declare Node's globals for all files.
declare module "node:fs/promises" {
  export function readFile(path: URL): Promise<Uint8Array<ArrayBuffer>>;
}
declare module "node:module" {
  export function createRequire(file: string): (name: string) => unknown;
}
