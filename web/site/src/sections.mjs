// The order of the site's pages: its sidebar and llms.txt are made of it. A page of docs/ has to be
// in one of the sections; a page elsewhere in the repository needs no mention.

/** Each page as its address without the extension; a folder's first page is its `index`. */
export const SECTIONS = [
  {
    title: "Guide",
    pages: [
      "guide/index",
      "guide/first-room",
      "guide/presence",
      "guide/shared-data",
      "guide/motion",
      "guide/going-live",
      "guide/testing",
    ],
  },
  { title: "Try it", pages: ["demos"] },
  {
    title: "Concepts",
    pages: [
      "qos",
      "shared",
      "motion",
      "voice",
      "schema",
      "testing",
      "transports",
      "http",
      "redundancy",
      "codecs",
      "laws",
    ],
  },
  { title: "Frameworks", pages: ["react", "bindings", "widgets", "yjs", "agents", "devtools"] },
  { title: "Other languages", pages: ["python", "c", "kotlin", "conformance"] },
  {
    title: "Moving here",
    pages: [
      "moving/index",
      "moving/from-socket-io",
      "moving/from-y-websocket",
      "moving/from-liveblocks",
      "moving/from-colyseus",
    ],
  },
  {
    title: "Deploying",
    pages: ["deploy/index", "deploy/vm", "deploy/container", "deploy/proxies", "deploy/kubernetes", "deploy/platforms"],
  },
  {
    title: "Operating",
    pages: [
      "operations/index",
      "operations/starting",
      "operations/containers",
      "operations/configuration",
      "operations/certificates",
      "operations/networks",
      "operations/access",
      "operations/storage",
      "operations/limits",
      "operations/monitoring",
      "operations/logs",
      "operations/administration",
      "operations/webhooks",
      "operations/upgrades",
      "cluster",
      "operations/troubleshooting",
      "inspector",
      "security",
      "store",
      "tunnel",
    ],
  },
  {
    title: "Wire format",
    pages: [
      "wire/index",
      "wire/session",
      "wire/compression",
      "wire/gmc",
      "wire/gmc-snapshot",
      "wire/datagrams",
      "wire/reports",
      "wire/groups",
      "wire/contracts",
      "wire/vectors/index",
      "wire/python/index",
      "ace",
    ],
  },
  { title: "Evidence", pages: ["evidence", "compared", "sizes", "lab/index", "lab/far", "releasing"] },
];

/** Pages of the repository that other pages link to; they come after all others. */
export const REPOSITORY_SECTION = "Repository";

/** What a sidebar calls a page whose own title is too long, or says too little there. */
export const SHORT_TITLES = {
  "guide/index": "Overview",
  "operations/index": "Running a server",
  "moving/index": "Overview",
  "deploy/index": "Overview",
  "wire/index": "Overview",
  "wire/vectors/index": "Examples in bytes",
  "wire/python/index": "A client in Python",
  "lab/index": "The laboratory",
  "api/index": "Overview",
  ace: "Adaptive compressed streams",
  overview: "The repository",
  compared: "Features beside others",
};

/** The sections in their order. Pages in none of them, which may not be of docs/, come last. */
export function sections(pages) {
  const placed = new Set(SECTIONS.flatMap((section) => section.pages));
  for (const page of placed) {
    if (!pages.has(page)) throw new Error(`there is no page ${page}: correct web/site/src/sections.mjs`);
  }
  const left = [...pages.values()].filter(
    ({ page }) => page !== "index" && !page.startsWith("api/") && !placed.has(page),
  );
  for (const { source } of left) {
    if (source.startsWith("docs/")) throw new Error(`${source} is in no section: add it to web/site/src/sections.mjs`);
  }
  const reference = [...pages.keys()].filter((page) => page.startsWith("api/"));
  const title = (page) => ({ page, title: SHORT_TITLES[page] ?? pages.get(page).title });
  return [
    ...SECTIONS.map((section) => ({ title: section.title, pages: section.pages.map(title) })),
    { title: "Reference", pages: reference.map(title) },
    { title: REPOSITORY_SECTION, pages: left.map(({ page }) => title(page)) },
  ];
}
