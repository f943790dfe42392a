// Builds the site into target/site: collects its pages in web/site/dist/pages, lets VitePress make
// HTML of them, and adds the same pages as Markdown, with lists of them for language models.
//
// node web/site/build.mjs

import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { build } from "vitepress";
import { withDemos } from "./src/demos.mjs";
import { fullText, list } from "./src/llms.mjs";
import { ownPages } from "./src/own-pages.mjs";
import { repositoryPages } from "./src/pages.mjs";
import { recording } from "./src/recording.mjs";
import { referencePages } from "./src/reference.mjs";
import { isFile, ROOT } from "./src/repository.mjs";
import { sections } from "./src/sections.mjs";

const PAGES = join(ROOT, "web/site/dist/pages");
const SITE = join(ROOT, "target/site");
/** The live demos, a package of their own: they are on the site if they have been built. */
const DEMOS = "web/demos/dist";

const hasDemos = isFile(`${DEMOS}/demos.js`);
const { pages: reference, undocumented } = await referencePages(join(ROOT, "target/site-cache"));
const pages = repositoryPages();
for (const page of [...(await ownPages()), ...reference]) pages.set(page.page, page);
const parts = sections(pages);

rmSync(PAGES, { recursive: true, force: true });
for (const { page, markdown, images } of pages.values()) {
  write(PAGES, `${page}.md`, withDemos(markdown, hasDemos));
  for (const image of images) copy(image, join("public", image.replace(/^docs\//, "")));
}
if (hasDemos) copy(DEMOS, "public/demos");
write(PAGES, "public/recording.json", JSON.stringify(recording()));
write(PAGES, "sections.json", JSON.stringify(parts));

await build(join(ROOT, "web/site"));

for (const page of pages.values()) write(SITE, `${page.page}.md`, plain(page));
write(SITE, "llms.txt", list(parts, pages));
write(SITE, "llms-full.txt", fullText(parts, pages));
console.log(
  `site: ${pages.size} pages in target/site; ${undocumented} public items of the npm packages lack documentation`,
);

/** A page without its front matter, with its title. */
function plain({ title, markdown }) {
  const body = markdown.replace(/^---\n[^]*?\n---\n/, "").trimStart();
  return /^# /m.test(body) ? body : `# ${title}\n\n${body}`;
}

function write(folder, path, text) {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

function copy(path, to) {
  mkdirSync(dirname(join(PAGES, to)), { recursive: true });
  cpSync(join(ROOT, path), join(PAGES, to), { recursive: true });
}
