/** The part of jsdom that the tests use. */
declare module "jsdom" {
  export class JSDOM {
    constructor(html: string, options: { readonly url: string });
    readonly window: Window & typeof globalThis;
  }
}
