// The lists of pages for language models, in the form of llmstxt.org.

import { summaryOf } from "./pages.mjs";
import { VERSION } from "./repository.mjs";
import { REPOSITORY_SECTION } from "./sections.mjs";

const HEAD = `# Groupwire

> The network layer for real-time collaboration: whiteboards, editors, games, anything where people see each other move and
> act. An app sends ordinary messages into the channels of a room and states what each channel needs. Groupwire compresses
> them to a few bytes, drops values that newer ones have replaced, and never loses messages that must not be lost.

Version ${VERSION}. Every page of this site is also there as Markdown: its address and \`.md\`. /llms-full.txt has them all in one file.
A model can take part in rooms itself, and edit texts with people, by tools of an MCP server, "groupwire agent": /agents.md.
`;

/** llms.txt: every page with its first sentences. What only contributors need is optional. */
export function list(sections, pages) {
  const parts = sections.map(({ title, pages: listed }) => {
    const lines = listed.map(({ page }) => {
      const { title, markdown } = pages.get(page);
      const summary = summaryOf(markdown);
      return `- [${title}](/${page}.md)${summary && `: ${summary}`}`;
    });
    return `## ${title === REPOSITORY_SECTION ? "Optional" : title}\n\n${lines.join("\n")}\n`;
  });
  return [HEAD, ...parts].join("\n");
}

/** llms-full.txt: the text of all pages, each after a line with its address. */
export function fullText(sections, pages) {
  const texts = sections.flatMap(({ pages: listed }) =>
    listed.map(({ page }) => `<!-- /${page}.md -->\n\n${pages.get(page).markdown.trim()}\n`),
  );
  return [HEAD, ...texts].join("\n");
}
