// Checks that everything we ship, crates and npm packages, may be used under a permissive licence.
//
// Shipped means reached from our packages without development dependencies; build dependencies
// count, as they may generate code. Run it from anywhere: node scripts/check-licences.mjs

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

// Licences that require no more than to keep a notice.
const ALLOWED = new Set([
  "0BSD",
  "Apache-2.0",
  "Apache-2.0 WITH LLVM-exception",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "BSL-1.0",
  "CC0-1.0",
  "ISC",
  "MIT",
  "Unicode-3.0",
  "Unlicense",
  "Zlib",
  // The BSD licence with three clauses, as bzip2 words it.
  "bzip2-1.0.6",
]);

// Packages taken in spite of their licence: name to { licence, reason }. The licence is compared,
// so that a change of it is noticed.
const UNIFFI = {
  licence: "MPL-2.0",
  reason:
    "Used unmodified, as its authors published it; the licence concerns changes of its own files, not programs with it.",
};
const EXCEPTIONS = {
  uniffi: UNIFFI,
  uniffi_core: UNIFFI,
  uniffi_internal_macros: UNIFFI,
  uniffi_macros: UNIFFI,
  uniffi_meta: UNIFFI,
  uniffi_pipeline: UNIFFI,
  "webpki-root-certs": {
    licence: "CDLA-Permissive-2.0",
    reason: "Only in Cargo.lock, where the optional HTTP client of instant-acme counts; nothing that we build has it.",
  },
};

// Packages that we ship, too, though a plain `cargo build` leaves them out.
const ALSO_SHIPPED = new Set(["groupwire-python", "groupwire-uniffi"]);

// Development dependencies whose code is in our npm packages (web/client/build.mjs).
const BUNDLED = new Set(["libopus-wasm"]);

/**
 * Whether an SPDX expression can be satisfied with allowed licences alone. Throws on what it cannot
 * read.
 */
export function satisfiable(expression, allowed = ALLOWED) {
  // Crates of before SPDX wrote "MIT/Apache-2.0" for OR.
  const tokens = expression.replaceAll("/", " OR ").match(/[()]|[^\s()]+/g) ?? [];
  const next = (token) => tokens[0] === token && tokens.shift() !== undefined;

  const either = () => {
    let ok = both();
    while (next("OR")) ok = both() || ok;
    return ok;
  };
  const both = () => {
    let ok = single();
    while (next("AND")) ok = single() && ok;
    return ok;
  };
  const single = () => {
    if (next("(")) {
      const ok = either();
      if (!next(")")) throw new Error(`unclosed parenthesis in "${expression}"`);
      return ok;
    }
    const licence = tokens.shift();
    if (!licence || /^(AND|OR|WITH|\))$/.test(licence)) throw new Error(`cannot read "${expression}"`);
    return allowed.has(next("WITH") ? `${licence} WITH ${tokens.shift()}` : licence);
  };

  const ok = either();
  if (tokens.length > 0) throw new Error(`cannot read "${expression}" from "${tokens[0]}" on`);
  return ok;
}

/** The packages that the answer of `cargo metadata` ships: { name, version, licence, path }. */
export function shippedCrates({ packages, resolve, workspace_default_members: ours }) {
  const package_ = new Map(packages.map((p) => [p.id, p]));
  const node = new Map(resolve.nodes.map((n) => [n.id, n]));
  // Breadth first, so that the path shown is a shortest one.
  const also = packages.filter(({ name }) => ALSO_SHIPPED.has(name)).map(({ id }) => id);
  const paths = new Map([...ours, ...also].map((id) => [id, package_.get(id).name]));
  for (const [id, path] of paths) {
    for (const dep of node.get(id).deps) {
      const shipped = dep.dep_kinds.some(({ kind }) => kind !== "dev");
      if (shipped && !paths.has(dep.pkg)) paths.set(dep.pkg, `${path} > ${package_.get(dep.pkg).name}`);
    }
  }
  return [...paths].map(([id, path]) => {
    const { name, version, license } = package_.get(id);
    return { name, version, licence: license, path };
  });
}

/** The packages that a package-lock.json ships: { name, version, licence, path }. */
export function shippedNpm({ packages }) {
  const marker = "node_modules/";
  const nameOf = (path) => path.slice(path.lastIndexOf(marker) + marker.length);
  return Object.entries(packages)
    .filter(([path, p]) => path.includes(marker) && (!p.dev || BUNDLED.has(nameOf(path))) && !p.link)
    .map(([path, p]) => ({
      name: nameOf(path),
      version: p.version,
      licence: p.license,
      path: `web/${path}`,
    }));
}

/** A line for each package whose licence is not allowed. */
export function offenders(shipped, exceptions = EXCEPTIONS) {
  return shipped.flatMap(({ name, version, licence, path }) => {
    if (licence && exceptions[name]?.licence === licence) return [];
    try {
      if (licence && satisfiable(licence)) return [];
      return [`${name} ${version}: ${licence ?? "no licence given"} (${path})`];
    } catch (error) {
      return [`${name} ${version}: ${error.message} (${path})`];
    }
  });
}

function main() {
  const metadata = execFileSync("cargo", ["metadata", "--format-version", "1", "--quiet"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 1 << 28,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const crates = shippedCrates(JSON.parse(metadata));
  const lock = `${root}web/package-lock.json`;
  const npm = existsSync(lock) ? shippedNpm(JSON.parse(readFileSync(lock, "utf8"))) : [];

  const lines = offenders([...crates, ...npm]);
  if (lines.length > 0) {
    console.error("licences: these are not on the list in scripts/check-licences.mjs:");
    for (const line of lines) console.error(`  ${line}`);
    process.exitCode = 1;
  } else {
    console.log(`licences: ${crates.length} crates and ${npm.length} npm packages are permissively licensed`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
