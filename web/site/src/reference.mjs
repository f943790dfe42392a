// The reference of the npm packages: TypeDoc reads their TypeScript and writes a page of Markdown
// for each entry point.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";
import { Application, LogLevel, ReflectionKind } from "typedoc";
import { anchors } from "../../../scripts/markdown.mjs";
import { read, REPOSITORY, ROOT } from "./repository.mjs";

/** The folders of the packages in web/, with their entry points; `index` is the package itself. */
export const PACKAGES = {
  client: ["index", "shared", "motion", "voice", "schema", "store", "testing"],
  react: ["index", "suspense", "voice"],
  vue: ["index"],
  svelte: ["index"],
  solid: ["index"],
  yjs: ["index"],
  widgets: ["index", "inspector", "administration", "voice"],
};

/** What the browser calls, and no application. */
const LIFECYCLE = new Set([
  "observedAttributes",
  "connectedCallback",
  "disconnectedCallback",
  "attributeChangedCallback",
]);

/** What a page says about its entry point besides the package's description. */
const ABOUT = {
  groupwire: "Rooms and channels. See [what a channel can ask for](/qos.md) and the [guide](/guide/index.md).",
  "groupwire/shared": "Maps, lists, counters and reducers that several people change. See [shared data](/shared.md).",
  "groupwire/motion": "Shows the movements of others smoothly. See [motion](/motion.md).",
  "groupwire/voice": "Lets the people in a room hear each other. See [voice](/voice.md).",
  "groupwire/schema": "Rooms whose messages and data have types that are checked. See [rooms with types](/schema.md).",
  "groupwire/store": "What bindings of frameworks are made of. See [bindings](/bindings.md).",
  "groupwire/testing": "Rooms, people and bad networks in simulated time. See [tests of applications](/testing.md).",
  "groupwire-react": "Hooks. See [React](/react.md).",
  "groupwire-react/voice": "The hook for voice. See [React](/react.md#voice).",
  "groupwire-react/suspense": "The hooks for pages that suspend. See [React](/react.md).",
  "groupwire-vue": "Composables. See [bindings](/bindings.md).",
  "groupwire-svelte": "Stores. See [bindings](/bindings.md).",
  "groupwire-solid": "Signals. See [bindings](/bindings.md).",
  "groupwire-yjs": "A provider for Yjs documents. See [Yjs](/yjs.md).",
  "groupwire-widgets": "Cursors, avatars and more as web components. See [widgets](/widgets.md).",
  "groupwire-widgets/inspector": "The inspector as a web component. See [the inspector](/inspector.md).",
  "groupwire-widgets/administration":
    "The administration page as a web component. See [administration](/operations/administration.md).",
  "groupwire-widgets/voice": "A panel for voice as a web component. See [widgets](/widgets.md#voice).",
};

/**
 * { pages, undocumented }: the pages, as those of `repositoryPages`, and how many public items have
 * no documentation. TypeDoc takes some 15 s, so the answer is kept in `cache`, a folder, until a
 * source changes.
 */
export async function referencePages(cache) {
  const file = join(cache, `reference-${fingerprint()}.json`);
  if (existsSync(file)) return JSON.parse(readFileSync(file, "utf8"));
  const made = await makePages();
  mkdirSync(cache, { recursive: true });
  writeFileSync(file, JSON.stringify(made));
  return made;
}

/** A hash of all that the pages are made of. */
function fingerprint() {
  const hash = createHash("sha256");
  const add = (path) => hash.update(path).update(readFileSync(path));
  for (const path of ["web/site/src/reference.mjs", "web/site/package-lock.json", "Cargo.toml"]) add(join(ROOT, path));
  for (const folder of Object.keys(PACKAGES)) {
    add(join(ROOT, "web", folder, "package.json"));
    const sources = join(ROOT, "web", folder, "src");
    for (const name of readdirSync(sources, { recursive: true }).sort()) {
      if (/\.m?ts$/.test(name)) add(join(sources, name));
    }
  }
  return hash.digest("hex").slice(0, 16);
}

async function makePages() {
  const pages = [];
  let undocumented = 0;
  for (const [folder, entries] of Object.entries(PACKAGES)) {
    const { name } = JSON.parse(read(`web/${folder}/package.json`));
    const { files, warnings } = await convert(folder, entries);
    undocumented += warnings.filter((text) => text.includes("does not have any documentation")).length;
    for (const entry of entries) {
      const title = entry === "index" ? name : `${name}/${entry}`;
      if (!ABOUT[title]) throw new Error(`${title} has no text: add it to ABOUT in web/site/src/reference.mjs`);
      const body = files.get(entry).replace(/^# .*\n/, "");
      const markdown = `# ${title}\n\n${ABOUT[title]}\n\n${imports(title)}\n\n${body.trim()}\n`;
      pages.push({
        page: `api/${name}/${entry}`,
        source: `web/${folder}/src/${entry}.ts`,
        title,
        markdown,
        images: [],
      });
    }
  }
  mendAnchors(pages);
  return { pages, undocumented };
}

/**
 * TypeDoc numbers some anchors that exist once, such as `#roomstate-1`: such links lose their
 * number.
 */
function mendAnchors(pages) {
  const known = new Map(pages.map(({ page, markdown }) => [page, anchors(markdown)]));
  for (const page of pages) {
    page.markdown = page.markdown.replaceAll(/\]\(([\w./-]*)#([\w-]+)-\d+\)/g, (link, file, anchor) => {
      const to = file === "" ? page.page : posix.join(posix.dirname(page.page), file).replace(/\.md$/, "");
      const isThere = known.get(to)?.has(/#([\w-]+)/.exec(link)[1]);
      return isThere ? link : `](${file}#${anchor})`;
    });
  }
}

function imports(title) {
  return `\`\`\`ts\nimport { … } from "${title}";\n\`\`\``;
}

/** A package's pages, by entry point, and TypeDoc's warnings. */
async function convert(folder, entries) {
  const out = mkdtempSync(join(tmpdir(), "groupwire-reference-"));
  try {
    const application = await Application.bootstrapWithPlugins({
      entryPoints: entries.map((entry) => join(ROOT, "web", folder, "src", `${entry}.ts`)),
      tsconfig: join(ROOT, "web", folder, "tsconfig.json"),
      plugin: ["typedoc-plugin-markdown"],
      outputFileStrategy: "modules",
      out,
      readme: "none",
      // The packages are checked by their own TypeScript; TypeDoc's is older.
      skipErrorChecking: true,
      excludeExternals: true,
      excludeInternal: true,
      excludePrivate: true,
      excludeProtected: true,
      disableSources: !REPOSITORY,
      ...(REPOSITORY ? { sourceLinkTemplate: `${REPOSITORY}/blob/main/{path}#L{line}`, disableGit: true } : {}),
      groupOrder: ["Functions", "Classes", "*"],
      hideBreadcrumbs: true,
      hidePageHeader: true,
      parametersFormat: "table",
      typeAliasPropertiesFormat: "table",
      validation: { notExported: false, invalidLink: true, notDocumented: true },
    });
    const warnings = [];
    application.logger = Object.assign(application.logger, {
      log: (text, level) => {
        if (level === LogLevel.Error) console.error(text);
        if (level === LogLevel.Warn) warnings.push(text);
      },
    });
    const project = await application.convert();
    if (!project) throw new Error(`TypeDoc cannot read web/${folder}: see the errors above`);
    for (const { children = [] } of project.getReflectionsByKind(ReflectionKind.Class)) {
      for (const child of children.filter(({ name }) => LIFECYCLE.has(name))) project.removeReflection(child);
    }
    application.validate(project);
    await application.generateOutputs(project);
    // TypeDoc writes the page of a package with one entry point as README.md.
    const name = (entry) => (entries.length === 1 ? "README" : entry);
    return {
      files: new Map(entries.map((entry) => [entry, readFileSync(join(out, `${name(entry)}.md`), "utf8")])),
      warnings,
    };
  } finally {
    rmSync(out, { recursive: true });
  }
}
