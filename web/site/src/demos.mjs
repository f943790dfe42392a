// Live demos in pages. A page of docs/ names one by a comment, which other readers of the Markdown
// do not see:
//
//   <!-- demo: list -->            a demonstration (web/demos/src/kinds)
//   <!-- playground: presence -->  the playground with an example (web/demos/examples)

const MARKS = /^<!-- (demo|playground): ([a-z-]+) -->$/gm;
const ELEMENTS = /(<gw-(?:demo|playground) [^>]*><\/gw-(?:demo|playground)>\s*)+/g;

/** Shown where a demo would be, as long as they are not built. */
const NO_DEMO = `::: info Not in this build
The live demos are a package of their own, \`web/demos\`, which was not built with this site. \`make run\` in the repository
shows the same with a real server: its page \`/?compare\` has one pointer over two transports, on a network that you make bad.
:::`;

/**
 * The page with elements in place of the comments. If the demos are not built, a sentence is in
 * place of both.
 */
export function withDemos(markdown, hasDemos) {
  const shown = markdown.replace(MARKS, (_, element, name) => {
    return element === "demo"
      ? `<gw-demo kind="${name}"></gw-demo>`
      : `Change the code, and see it in two windows. The network between them is in this page, too:\n\n<gw-playground example="${name}"></gw-playground>`;
  });
  return hasDemos ? shown : shown.replace(ELEMENTS, `${NO_DEMO}\n\n`);
}
