// Checks that every link in the repository's Markdown leads somewhere: the file or folder exists,
// and a page of ours has the anchor. A page that code names, as in `docs/qos.md`, must exist
// as well. Links to other sites are not followed.
//
// Run it from anywhere: node scripts/check-links.mjs

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";
import { anchors, links } from "./markdown.mjs";

const MENTION = /(?<![\w/.-])(docs\/[\w/-]+\.md)(?:#([\w-]+))?/g;

const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * The links of `pages` that lead nowhere, a line for each. `pages` maps paths to Markdown;
 * `exists` says whether the repository has a file or folder at a path.
 */
export function broken(pages, exists) {
  const known = new Map();
  const anchorsOf = (path) => {
    if (!known.has(path)) known.set(path, anchors(pages.get(path)));
    return known.get(path);
  };
  return [...pages].flatMap(([path, markdown]) =>
    links(markdown).flatMap(({ target, line }) => {
      if (/^[a-z][a-z0-9+.-]*:/i.test(target)) return [];
      const [file, anchor] = split(target);
      const to = file === "" ? path : posix.join(posix.dirname(path), file).replace(/\/$/, "");
      const where = `${path}:${line}: [${target}]`;
      if (to.startsWith("..") || file.startsWith("/")) return [`${where}: is outside of the repository`];
      if (!exists(to)) return [`${where}: there is no ${to}`];
      if (anchor === undefined || !pages.has(to)) return [];
      return anchorsOf(to).has(anchor) ? [] : [`${where}: ${to} has no heading or id for #${anchor}`];
    }),
  );
}

/**
 * The pages of docs/ that texts other than Markdown name and that are not there. `lines` are those
 * of `git grep`: the path, the number of the line, its text.
 */
export function unknownPages(lines, pages) {
  return lines.flatMap((line) => {
    const [, where, text] = /^([^:]+:\d+):(.*)$/.exec(line);
    return [...text.matchAll(MENTION)].flatMap(([, path, anchor]) => {
      if (!pages.has(path)) return [`${where}: there is no ${path}`];
      if (anchor === undefined || anchors(pages.get(path)).has(anchor)) return [];
      return [`${where}: ${path} has no heading or id for #${anchor}`];
    });
  });
}

function split(target) {
  const at = target.indexOf("#");
  const decoded = decodeURIComponent(at < 0 ? target : target.slice(0, at));
  return at < 0 ? [decoded] : [decoded, decodeURIComponent(target.slice(at + 1))];
}

function main() {
  const git = (...args) => execFileSync("git", args, { cwd: root, encoding: "utf8" }).split("\n").filter(Boolean);
  // Files that are new, but not ignored, count, too. Links in the site's own pages are addresses of
  // the site, whose tests follow them.
  const paths = git("ls-files", "--cached", "--others", "--exclude-standard", "*.md", ":!web/site/pages");
  const present = paths.filter((path) => existsSync(root + path) && statSync(root + path).isFile());
  const pages = new Map(present.map((path) => [path, readFileSync(root + path, "utf8")]));
  // Tests of checks name pages that are not there on purpose.
  const mentions = git("grep", "-InE", "docs/[a-z/-]+\\.md", "--", ":!*.md", ":!scripts/*.test.mjs");
  const lines = [...broken(pages, (path) => existsSync(root + path)), ...unknownPages(mentions, pages)];
  if (lines.length > 0) {
    console.error("links: these lead nowhere:");
    for (const line of lines) console.error(`  ${line}`);
    process.exitCode = 1;
  } else {
    const count = [...pages.values()].reduce((sum, page) => sum + links(page).length, 0);
    const named = `and the pages that ${mentions.length} lines of code name exist`;
    console.log(`links: ${count} links in ${pages.size} Markdown files lead somewhere, ${named}`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
