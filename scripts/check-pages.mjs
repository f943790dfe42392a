// Starts a groupwire command and asks it for each page and all files that the page names:
// check-pages.mjs GROUPWIRE

import { fileURLToPath } from "node:url";
import { Server } from "../web/e2e/server.mjs";

/** The addresses of scripts, styles and icons that a page names. */
export function named(html, page) {
  const links = [...html.matchAll(/(?:src|href)="([^"#]+)"/g)].map(([, link]) => new URL(link, page));
  return links.filter(({ origin }) => origin === page.origin);
}

async function fetched(address) {
  const answer = await fetch(address);
  const body = await answer.text();
  if (answer.status !== 200 || body.length === 0)
    throw new Error(`${address}: HTTP ${answer.status}, ${body.length} bytes`);
  return body;
}

async function main([binary]) {
  process.env.GROUPWIRE_BINARY = binary;
  const server = await Server.start();
  try {
    for (const page of [server.url, `${server.url}/puzzle/`, server.inspector].map((url) => new URL(url))) {
      const files = named(await fetched(page), page);
      if (files.length === 0) throw new Error(`${page} names no files`);
      await Promise.all(files.map(fetched));
      console.log(`pages: ${page.pathname} and the ${files.length} files that it names are served`);
    }
  } finally {
    await server.kill();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2));
