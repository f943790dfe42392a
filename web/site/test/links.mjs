// Reads what links of built pages need.

/** What a page links to, and what can be linked to in it: { links, ids }. */
export function page(html) {
  const attribute = (name) =>
    [...html.matchAll(new RegExp(`<[^>]*\\s${name}="([^"]*)"`, "g"))].map(([, value]) =>
      value.replaceAll("&amp;", "&"),
    );
  return { links: [...new Set([...attribute("href"), ...attribute("src")])], ids: new Set(attribute("id")) };
}

/**
 * The links within the site that lead nowhere, a line for each. `pages` maps files to what `page`
 * returns; `exists` says whether the site has a file.
 */
export function brokenLinks(pages, exists) {
  return [...pages].flatMap(([name, { links }]) =>
    links.flatMap((link) => {
      const url = new URL(link, `http://site/${name}`);
      if (url.host !== "site") return [];
      const path = decodeURIComponent(url.pathname).slice(1);
      const file =
        path === "" || path.endsWith("/") ? `${path}index.html` : /\.\w+$/.test(path) ? path : `${path}.html`;
      if (!exists(file)) return [`${name}: ${link}: there is no ${file}`];
      const anchor = decodeURIComponent(url.hash.slice(1));
      if (anchor === "" || !pages.has(file) || pages.get(file).ids.has(anchor)) return [];
      return [`${name}: ${link}: ${file} has nothing with the id ${anchor}`];
    }),
  );
}
