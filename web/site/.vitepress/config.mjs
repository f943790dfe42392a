// The site's configuration. build.mjs has put its pages into web/site/dist/pages.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { slug } from "../../../scripts/markdown.mjs";
import { REPOSITORY, ROOT, VERSION } from "../src/repository.mjs";

const PAGES = join(ROOT, "web/site/dist/pages");
const sections = JSON.parse(readFileSync(join(PAGES, "sections.json"), "utf8"));

const linkOf = (page) => `/${page.replace(/(^|\/)index$/, "$1")}`;
// A group's title is a link, because a button with a button in it cannot be used by everybody.
const sidebar = sections.map(({ title, pages }) => {
  const items = pages.map(({ page, title }) => ({ text: title, link: linkOf(page) }));
  const group = { text: title, link: items[0].link, docFooterText: items[0].text };
  return pages.length === 1 ? group : { ...group, collapsed: title !== "Guide", items };
});

export default {
  title: "Groupwire",
  description: "The network layer for real-time collaboration",
  lang: "en",
  srcDir: PAGES,
  outDir: join(ROOT, "target/site"),
  cacheDir: join(ROOT, "target/site-cache"),
  cleanUrls: true,
  // It would be the time of the copy.
  lastUpdated: false,
  // llms.txt is written after the pages; localhost is the reader's own machine.
  ignoreDeadLinks: [/^\/llms(-full)?\.txt$/, /^http:\/\/localhost/],
  head: [["link", { rel: "icon", href: icon() }]],
  transformHead: ({ page }) => [["link", { rel: "alternate", type: "text/markdown", href: `/${page}` }]],
  markdown: {
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    languageAlias: { "rust,no_run": "rust", "rust,ignore": "rust" },
    // The anchors are those of GitHub, which links in the repository use.
    anchor: { slugify: slug },
    toc: { slugify: slug },
    config: accessibleTables,
  },
  vite: {
    resolve: {
      // VitePress's own has no landmark for the main part of the first page.
      alias: [{ find: /^.*\/VPHome\.vue$/, replacement: join(ROOT, "web/site/.vitepress/theme/Home.vue") }],
    },
  },
  vue: { template: { compilerOptions: { isCustomElement: (tag) => tag.startsWith("gw-") } } },
  themeConfig: {
    nav: [
      { text: "Guide", link: "/guide/", activeMatch: "^/guide/" },
      { text: "Try it", link: "/demos" },
      { text: "Operating", link: "/operations/", activeMatch: "^/operations/" },
      { text: "Reference", link: "/api/", activeMatch: "^/api/" },
      { text: "Evidence", link: "/evidence" },
      {
        text: `next (${VERSION})`,
        items: [
          { text: `next: ${VERSION}, not released yet`, link: "/" },
          { text: "Changes", link: "/changelog" },
        ],
      },
    ],
    sidebar,
    outline: [2, 3],
    search: { provider: "local", options: { detailedView: true, miniSearch: { searchOptions: { boostDocument } } } },
    ...(REPOSITORY ? { socialLinks: [{ icon: "github", link: REPOSITORY }] } : {}),
    footer: { message: "MIT OR Apache-2.0" },
  },
};

/** Explanations come before the reference, and that before what only contributors need. */
function boostDocument(id) {
  if (id.startsWith("/api/")) return 0.2;
  return /^\/(lab|crates|web|examples|samples)\//.test(id) ? 0.1 : 1;
}

/** Wide tables scroll, also by the keyboard; a cell without text is no head. */
function accessibleTables(md) {
  md.core.ruler.push("empty-heads", ({ tokens }) => {
    tokens.forEach((token, at) => {
      if (token.type === "th_open" && tokens[at + 1].content === "") token.tag = tokens[at + 2].tag = "td";
    });
  });
  md.renderer.rules.table_open = () => '<div class="table" tabindex="0">\n<table>\n';
  md.renderer.rules.table_close = () => "</table>\n</div>\n";
}

/** Three pointers that meet, as a picture in the address. */
function icon() {
  const arrow = (color, turn) =>
    `<path fill="${color}" d="M16 15 27 19.5 21.5 21.5 19.5 27Z" transform="rotate(${turn} 16 16)"/>`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">${arrow("#1971c2", 0)}${arrow("#2f9e44", 120)}${arrow("#7048e8", 240)}</svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}
