/** The code of `worklet.ts` in one text, which build.mjs writes. */
declare const code: string;
export default code;
