// Reads Rust as text, for check-core.mjs and check-cycles.mjs. `files` maps paths to text.

/** a/b.rs and a/b/mod.rs are the module a::b; lib.rs and main.rs are the root. */
export function modulePath(file) {
  const parts = file.replace(/\.rs$/, "").split("/");
  if (["lib", "main", "mod"].includes(parts.at(-1))) parts.pop();
  return parts;
}

/**
 * The source with comments and the contents of strings replaced by blanks: positions and lines
 * stay.
 */
export function blank(text) {
  const token =
    /\/\/[^\n]*|\/\*[\s\S]*?\*\/|\bb?r(#*)"[\s\S]*?"\1|b?"(?:\\[\s\S]|[^"\\])*"|b?'(?:\\[^\n]{1,10}?|[^'\\\n])'/g;
  return text.replace(token, (found) => found.replace(/[^\n]/g, " "));
}

const TEST = /#\[cfg\((?:all\()?test\b[^\]]*\]/g;

/** The blanked source without the items under #[cfg(test)]. */
export function withoutTests(text) {
  TEST.lastIndex = 0;
  for (let match = TEST.exec(text); match; match = TEST.exec(text)) {
    const end = itemEnd(text, TEST.lastIndex);
    text = text.slice(0, match.index) + text.slice(match.index, end).replace(/[^\n]/g, " ") + text.slice(end);
  }
  return text;
}

/** An item ends with its first semicolon or closing brace outside of all brackets. */
export function itemEnd(text, start) {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    if ("([{".includes(text[at])) depth++;
    if (")]}".includes(text[at])) depth--;
    if (depth === 0 && (text[at] === ";" || text[at] === "}")) return at + 1;
  }
  return text.length;
}

/** The files that `#[cfg(test)] mod name;` brings in. */
export function testFiles(files) {
  const found = new Set();
  for (const [file, text] of Object.entries(files)) {
    for (const [, name] of blank(text).matchAll(
      /#\[cfg\((?:all\()?test\b[^\]]*\]\s*(?:pub(?:\([^)]*\))? )?mod (\w+);/g,
    )) {
      const module = [...modulePath(file), name].join("/");
      for (const other of Object.keys(files)) {
        if (other === `${module}.rs` || other.startsWith(`${module}/`)) found.add(other);
      }
    }
  }
  return found;
}
