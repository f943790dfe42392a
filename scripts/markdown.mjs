// Reads Markdown as GitHub does, as far as checks of links need it: where links are, and which
// anchors a page has.

/** The anchor of a heading: small letters, digits, `_` and `-`; spaces become `-`. */
export function slug(heading) {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, "")
    .replaceAll(" ", "-");
}

/** The text with what stands in code and in comments replaced by spaces, at the same places. */
export function withoutCode(markdown) {
  const blank = (text) => text.replaceAll(/[^\n]/g, " ");
  return markdown
    .replaceAll(/^( *)(`{3,}|~{3,})[^\n]*\n(?:[^]*?\n)??\1\2`*~* *$/gm, blank)
    .replaceAll(/<!--[^]*?-->/g, blank)
    .replaceAll(/(?<!`)(`+)(?!`)([^]*?[^`])\1(?!`)/g, blank);
}

/**
 * The links and images outside of code: { start, end, text, target, isImage, line }, where `start`
 * and `end` are the places of the whole link.
 */
export function links(markdown) {
  const plain = withoutCode(markdown);
  // A text may have brackets, and an address may have parentheses, one level deep.
  const link =
    /(!?)\[((?:[^[\]]|!?\[[^\]]*\](?:\([^)]*\))?)*)\]\(\s*<?((?:[^()\s<>]|\([^()\s]*\))*)>?(?:\s+"[^"]*")?\s*\)/g;
  return [...plain.matchAll(link)].map(({ index, 0: whole, 1: mark, 2: text, 3: target }) => ({
    start: index,
    end: index + whole.length,
    // Taken of the original, which has the code.
    text: markdown.slice(index + mark.length + 1, index + mark.length + 1 + text.length),
    target,
    isImage: mark === "!",
    line: plain.slice(0, index).split("\n").length,
  }));
}

/** The headings: { level, text, line }, the text without marks. */
export function headings(markdown) {
  const lines = markdown.split("\n");
  return withoutCode(markdown)
    .split("\n")
    .flatMap((plain, at) => {
      const level = /^(#{1,6}) /.exec(plain)?.[1].length;
      return level ? [{ level, text: unmarked(lines[at].slice(level + 1)), line: at + 1 }] : [];
    });
}

/** A line of Markdown as it is read: without marks of links, code and emphasis. */
export function unmarked(line) {
  return line
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/[`*]|<[^>]+>|\s#+\s*$/g, "")
    .trim();
}

/** What a link into the page can name behind `#`. */
export function anchors(markdown) {
  const found = new Set();
  for (const { text } of headings(markdown)) {
    const base = slug(text);
    let anchor = base;
    for (let more = 1; found.has(anchor); more++) anchor = `${base}-${more}`;
    found.add(anchor);
  }
  for (const [, id] of withoutCode(markdown).matchAll(/<\w+[^>]*\b(?:id|name)="([^"]+)"/g)) found.add(id);
  return found;
}
