// The declarations of Node that the tests need.
declare module "node:fs" {
  export function readFileSync(path: URL): Uint8Array<ArrayBuffer>;
}
declare module "node:zlib" {
  export function gzipSync(data: string, options: { level: number }): Uint8Array;
  export function deflateRawSync(text: string): Uint8Array;
  export function inflateRawSync(packed: Uint8Array): { toString(): string };
}
declare module "node:url" {
  export function fileURLToPath(url: URL): string;
}
declare module "node:vm" {
  export function runInNewContext(code: string): unknown;
}
