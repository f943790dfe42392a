// The declarations of Node that the program for a server in docs/guide/going-live.md needs.
declare module "node:crypto" {
  export function createHmac(
    algorithm: string,
    key: Uint8Array,
  ): { update(text: string): { digest(encoding: "base64url"): string } };
}
declare module "node:fs" {
  export function readFileSync(path: string, encoding: "utf8"): string;
}
declare const Buffer: {
  from(text: string, encoding?: "base64url"): Uint8Array & { toString(encoding: "base64url"): string };
};
