// Serves target/site as a static host does: `/page` is page.html, `/folder/` its index.html, texts
// are compressed with gzip.

import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

export const SITE = fileURLToPath(new URL("../../../target/site/", import.meta.url));

const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css",
  ".js": "text/javascript",
  ".json": "application/json",
  ".md": "text/markdown; charset=utf-8",
  ".txt": "text/plain; charset=utf-8",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};
const COMPRESSED = new Set([".html", ".css", ".js", ".json", ".md", ".txt", ".svg"]);

/** { url, close }. */
export async function serve() {
  const server = createServer((request, response) => {
    answer(request, response).catch((error) => response.writeHead(500).end(error.message));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

async function answer(request, response) {
  const path = normalize(decodeURIComponent(new URL(request.url, "http://host").pathname));
  const name = path.endsWith("/") ? `${path}index.html` : extname(path) ? path : `${path}.html`;
  const bytes = await readFile(join(SITE, name)).catch(() => undefined);
  if (!bytes)
    return response.writeHead(404, { "content-type": TYPES[".html"] }).end(await readFile(join(SITE, "404.html")));
  const headers = { "content-type": TYPES[extname(name)] ?? "application/octet-stream" };
  if (!COMPRESSED.has(extname(name))) return response.writeHead(200, headers).end(bytes);
  response.writeHead(200, { ...headers, "content-encoding": "gzip" }).end(gzipSync(bytes));
}
