// Checks that every page of docs/ is in a section of the site, and that every page of a section
// exists: otherwise only `make site` would notice.

import { ownPages } from "../web/site/src/own-pages.mjs";
import { repositoryPages } from "../web/site/src/pages.mjs";
import { sections } from "../web/site/src/sections.mjs";

try {
  const pages = repositoryPages();
  for (const page of await ownPages()) pages.set(page.page, page);
  console.log(`sections: ${pages.size} pages are in ${sections(pages).length} sections of the site`);
} catch ({ message }) {
  console.error(`sections: ${message}`);
  process.exitCode = 1;
}
