/** What the examples of the documentation take from the application around them. */

declare function show(...things: unknown[]): void;

/** As Vite declares it. */
interface ImportMeta {
  readonly env: { readonly DEV: boolean };
}
