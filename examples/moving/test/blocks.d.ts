declare module "*/blocks.mjs" {
  export function codeOf(name: string): string;
  export function linesOf(...names: string[]): number;
  export function pages(): Map<string, string>;
  export function blocksOf(text: string): { readonly name: string | undefined; readonly code: string }[];
  export function renewed(text: string): string;
}
