// Starts a groupwire command and asks it for each page and all files that the page names: check-pages.mjs GROUPWIRE

import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const PAGES = ["/", "/puzzle/", "/inspector/"];

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
  const server = spawn(binary, ["serve", "--listen", "127.0.0.1:0"], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((_, reject) => {
    server.on("error", reject);
    server.on("exit", (code) => reject(new Error(`${binary} serve ended with ${code}`)));
  });
  ended.catch(() => {});
  const address = new Promise((resolve) => {
    let output = "";
    server.stdout.setEncoding("utf8").on("data", (data) => {
      output += data;
      const [found] = /http:\/\/127\.0\.0\.1:\d+/.exec(output) ?? [];
      if (found) resolve(found);
    });
  });
  try {
    const root = await Promise.race([address, ended]);
    for (const path of PAGES) {
      const page = new URL(path, root);
      const files = named(await fetched(page), page);
      if (files.length === 0) throw new Error(`${page} names no files`);
      await Promise.all(files.map(fetched));
      console.log(`pages: ${path} and the ${files.length} files that it names are served`);
    }
  } finally {
    server.kill();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2));
