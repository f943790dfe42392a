// All that the tests need of Node.
declare module "node:fs" {
  export function readFileSync(path: URL): Uint8Array<ArrayBuffer>;
}
declare module "node:zlib" {
  export function gzipSync(data: string, options: { level: number }): Uint8Array;
}
declare module "node:url" {
  export function fileURLToPath(url: URL): string;
}
