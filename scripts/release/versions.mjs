// The version and the address of the repository are in Cargo.toml, [workspace.package]. This script
// compares all copies of them with it: versions.mjs. With --write it corrects the copies, and with
// --print version or --print repository it prints the value itself.

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

const NUMBER = String.raw`\d+\.\d+\.\d+(?:-[\w.]+)?`;
// Our packages in a list of dependencies, in JSON and in TOML.
const NPM = new RegExp(String.raw`("(?:create-)?groupwire(?:-[a-z]+)?": "[\^~]?)${NUMBER}(?=")`, "g");
const CRATE = new RegExp(String.raw`^(groupwire-[a-z]+ = \{.*version = ")${NUMBER}(?=")`, "gm");
// The field of a package itself.
const OWN = new RegExp(String.raw`^(  "version": ")${NUMBER}(?=")`, "m");
// Of our packages in package-lock.json: the path has no node_modules.
const LOCKED = new RegExp(
  String.raw`("(?!node_modules|[^"]*/node_modules)[^"]*": \{\n      "name": "(?:create-)?groupwire(?:-[a-z]+)?",\n      "version": ")${NUMBER}(?=")`,
  "g",
);
const ADDRESS = String.raw`https://[^"\s#]+?`;

/** Reads version and repository from the text of Cargo.toml. */
export function source(toml) {
  const section = /^\[workspace\.package\]\n([^[]*)/m.exec(toml)?.[1] ?? "";
  const field = (name) => new RegExp(`^${name} = "([^"]+)"`, "m").exec(section)?.[1];
  const [version, repository] = [field("version"), field("repository")];
  if (!version || !repository) throw new Error("Cargo.toml: [workspace.package] needs version and repository");
  return { version, repository };
}

/** Files with copies: patterns of paths, and what stands before each copy. */
const COPIES = [
  { files: ["Cargo.toml", "crates/*/Cargo.toml"], versions: [CRATE] },
  {
    files: ["web/*/package.json", "web/create/templates/*/package.json", "examples/*/package.json"],
    versions: [NPM, OWN],
    addresses: [
      new RegExp(String.raw`^(  "homepage": ")${ADDRESS}(?=/tree/main/)`, "m"),
      new RegExp(String.raw`^(    "url": "git\+)${ADDRESS}(?=\.git")`, "m"),
      new RegExp(String.raw`^(  "bugs": ")${ADDRESS}(?=/issues")`, "m"),
    ],
  },
  { files: ["web/package.json"], versions: [OWN] },
  { files: ["web/package-lock.json", "examples/*/package-lock.json"], versions: [NPM, OWN, LOCKED] },
  {
    files: ["packaging/helm/groupwire/Chart.yaml"],
    versions: [new RegExp(`^((?:version|appVersion): )${NUMBER}`, "gm")],
  },
  {
    files: ["crates/server/src/admin_http/openapi.json", "crates/server/src/user_http/openapi.json"],
    versions: [new RegExp(String.raw`^(    "version": ")${NUMBER}`, "m")],
  },
  {
    files: ["docs/operations/*.md", "docs/guide/README.md"],
    versions: [
      new RegExp(String.raw`(\{"version": ")${NUMBER}`, "g"),
      new RegExp(String.raw`(\bgroupwire[-:])${NUMBER}(?=\.tgz|-image|-x86_64|-aarch64|$)`, "gm"),
    ],
  },
];

/** The text of a file with the right version and address, as `copies` says where they are. */
export function corrected(text, { versions, addresses = [] }, { version, repository }) {
  const set = (value) => (text, pattern) => text.replace(pattern, (_, before) => before + value);
  return addresses.reduce(set(repository), versions.reduce(set(version), text));
}

/** The files whose copies differ, with their right text. */
export function differences(read, list, truth) {
  return COPIES.flatMap((copies) =>
    list(copies.files).flatMap((file) => {
      const [text, right] = [read(file), corrected(read(file), copies, truth)];
      return text === right ? [] : [{ file, text, right }];
    }),
  );
}

/** What public packages of npm have to have. Returns what is missing in one. */
export function missing(file, { private: isPrivate, ...package_ }, { version, repository }) {
  if (isPrivate) return [];
  const folder = file.slice(0, file.lastIndexOf("/"));
  const expected = {
    version,
    homepage: `${repository}/tree/main/${folder}#readme`,
    repository: { type: "git", url: `git+${repository}.git`, directory: folder },
    bugs: `${repository}/issues`,
  };
  const wrong = Object.entries(expected).filter(
    ([name, value]) => JSON.stringify(package_[name]) !== JSON.stringify(value),
  );
  const lines = wrong.map(([name, value]) => `${file}: ${name} must be ${JSON.stringify(value)}`);
  return package_.keywords?.length > 0 ? lines : [...lines, `${file}: keywords are missing`];
}

/** The packages of Cargo.lock that are ours: name to version. */
export function locked(lock) {
  const ours = [...lock.matchAll(/^name = "(groupwire-[a-z-]+)"\nversion = "([^"]+)"\n(?!source)/gm)];
  return new Map(ours.map(([, name, version]) => [name, version]));
}

/** The files of the repository whose paths match a pattern, where * is no slash. */
function committed(patterns) {
  const list = execFileSync("git", ["ls-files", ...patterns.map((pattern) => `:(glob)${pattern}`)], {
    cwd: root,
    encoding: "utf8",
  });
  return list.split("\n").filter((file) => file !== "");
}

function main([action, what]) {
  const read = (file) => readFileSync(join(root, file), "utf8");
  const truth = source(read("Cargo.toml"));
  if (action === "--print") {
    console.log(truth[what]);
    return;
  }
  const different = differences(read, committed, truth);
  if (action === "--write") {
    for (const { file, right } of different) {
      writeFileSync(join(root, file), right);
      console.log(`versions: corrected ${file}`);
    }
    execFileSync("cargo", ["update", "--workspace", "--offline", "--quiet"], { cwd: root, stdio: "inherit" });
  }
  const wrong = action === "--write" ? [] : different.map(({ file }) => `${file}: has another version or address`);
  for (const file of committed(["web/*/package.json"])) wrong.push(...missing(file, JSON.parse(read(file)), truth));
  for (const [name, version] of locked(read("Cargo.lock"))) {
    // The experiments and tools are not released.
    if (version !== truth.version && version !== "0.0.0")
      wrong.push(`Cargo.lock: ${name} is ${version}; run 'cargo update --workspace'`);
  }
  if (wrong.length > 0) {
    console.error(`versions: Cargo.toml says ${truth.version} at ${truth.repository}, but:\n  ${wrong.join("\n  ")}`);
    console.error("versions: 'node scripts/release/versions.mjs --write' corrects the copies");
    process.exit(1);
  }
  console.log(`versions: all parts are ${truth.version}, at ${truth.repository}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.slice(2));
