// The pages that come from the repository's Markdown: all of docs/, the README, the list of
// changes, and every Markdown file that one of them links to. Their links lead to pages of the
// site.

import { posix } from "node:path";
import { headings, links, unmarked } from "../../../scripts/markdown.mjs";
import { isFile, markdownIn, read, REPOSITORY } from "./repository.mjs";

/**
 * All pages: a map from each page's address (without the extension) to { page, source, title,
 * markdown, images }. `images` are files of the repository that the page shows.
 */
export function repositoryPages() {
  const sources = [...markdownIn("docs"), "README.md", "CHANGELOG.md", ...crateReadmes()];
  for (const source of sources) {
    for (const target of targets(source, read(source))) if (!sources.includes(target)) sources.push(target);
  }
  const known = new Set(sources);
  const pages = sources.map((source) => pageOf(source, read(source), known));
  return new Map(pages.map((page) => [page.page, page]));
}

const crateReadmes = () => markdownIn("crates").filter((path) => /^crates\/[^/]+\/README\.md$/.test(path));

/** The Markdown files that a file links to. */
function targets(source, markdown) {
  return links(markdown).flatMap(({ target, isImage }) => {
    const file = isImage ? undefined : fileOf(source, target);
    return file?.path.endsWith(".md") ? [file.path] : [];
  });
}

/**
 * The file of the repository that a link leads to: { path, anchor }. A folder stands for its
 * README. Undefined for links to other sites and within the page.
 */
function fileOf(source, target) {
  if (target.startsWith("#") || /^[a-z][a-z0-9+.-]*:/i.test(target)) return undefined;
  const [file, anchor = ""] = target.split(/(?=#)/);
  const path = posix.join(posix.dirname(source), file).replace(/\/$/, "");
  const readme = posix.join(path, "README.md");
  return { path: isFile(readme) ? readme : path, anchor };
}

/** The address of the page of a Markdown file. The site's own first page is `index`. */
export function addressOf(source) {
  if (source === "README.md") return "overview";
  return source
    .replace(/^docs\//, "")
    .replace(/README\.md$/, "index")
    .replace(/\.md$/, "")
    .replace(/^[A-Z]+$/, (name) => name.toLowerCase());
}

function pageOf(source, original, known) {
  const images = [];
  const markdown = replaceLinks(original, ({ text, target, isImage }) => {
    const file = fileOf(source, target);
    if (!file) return undefined;
    if (isImage) {
      images.push(file.path);
      return `![${text}](/${file.path.replace(/^docs\//, "")})`;
    }
    if (known.has(file.path)) return `[${text}](/${addressOf(file.path)}.md${file.anchor})`;
    if (REPOSITORY) return `[${text}](${REPOSITORY}/blob/main/${file.path}${file.anchor})`;
    // Without a public host, the reader is told where the file is in the repository.
    return unmarked(text).includes(file.path) ? text : `${text} (\`${file.path}\`)`;
  });
  return { page: addressOf(source), source, title: titleOf(source, markdown), markdown, images };
}

/** The heading of a page; the site's first page has its title in its front matter. */
export function titleOf(source, markdown) {
  const inFront = /^---\n(?:.*\n)*? *name: (.*)\n(?:.*\n)*?---\n/.exec(markdown)?.[1];
  const title = inFront ?? headings(markdown).find(({ level }) => level === 1)?.text;
  if (!title) throw new Error(`${source} has no heading of the first level`);
  return title;
}

/** The text with each link replaced by what `replacement` returns, if it returns anything. */
function replaceLinks(markdown, replacement) {
  let text = "";
  let at = 0;
  for (const link of links(markdown)) {
    const inside = link.text.includes("](") ? { ...link, text: replaceLinks(link.text, replacement) } : link;
    const kept = `${link.isImage ? "!" : ""}[${inside.text}](${link.target})`;
    text += markdown.slice(at, link.start) + (replacement(inside) ?? kept);
    at = link.end;
  }
  return text + markdown.slice(at);
}

/** The first sentences of a page, as far as they fit into a line of a list. */
export function summaryOf(markdown) {
  const paragraphs = markdown.replace(/^---\n[^]*?\n---\n/, "").split(/\n\s*\n/);
  const first = paragraphs.find((text) => /^[\p{L}\p{N}`[*"]/u.test(text) && !text.startsWith("For a first try"));
  if (!first) return "";
  const plain = unmarked(first.replaceAll("\n", " "));
  const sentences = plain.match(/.+?[.:?!](?=\s|$)|.+$/g) ?? [plain];
  let summary = sentences[0];
  for (const sentence of sentences.slice(1)) {
    if ((summary + sentence).length > 160) break;
    summary += sentence;
  }
  return summary.replace(/:$/, ".");
}
