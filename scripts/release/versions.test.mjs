import assert from "node:assert/strict";
import { test } from "node:test";
import { differences, locked, missing, source } from "./versions.mjs";

const TRUTH = { version: "1.2.3", repository: "https://example.org/a/b" };

/** The differences in a project of these files. */
function different(files) {
  return differences(
    (file) => files[file],
    (patterns) => patterns.filter((pattern) => pattern in files),
    TRUTH,
  ).map(({ file, right }) => [file, right]);
}

test("Cargo.toml is the source", () => {
  const toml = `[workspace.package]\nversion = "1.2.3"\nrepository = "https://example.org/a/b"\n[x]\nversion = "9.9.9"\n`;
  assert.deepEqual(source(toml), TRUTH);
  assert.throws(() => source(`[package]\nversion = "1.2.3"\n`), /needs version and repository/);
});

test("copies in crates, packages and the chart are corrected, and other versions are left alone", () => {
  const toml = (version) =>
    `groupwire-gmc = { path = "crates/gmc", version = "${version}" }\nserde = { version = "0.1.0" }\n`;
  const chart = (version) => `apiVersion: v2\nversion: ${version}\nappVersion: ${version}\nkubeVersion: ">=1.26.0-0"\n`;
  const page = (version) => `npm install packages/groupwire-${version}.tgz, Node 20.19.0`;
  assert.deepEqual(
    different({
      "Cargo.toml": toml("0.1.0"),
      "packaging/helm/groupwire/Chart.yaml": chart("0.1.0"),
      "docs/guide/README.md": page("1.2.4-rc.1"),
    }),
    [
      ["Cargo.toml", toml("1.2.3")],
      ["packaging/helm/groupwire/Chart.yaml", chart("1.2.3")],
      ["docs/guide/README.md", page("1.2.3")],
    ],
  );
  assert.deepEqual(different({ "Cargo.toml": toml("1.2.3"), "docs/guide/README.md": page("1.2.3") }), []);
});

test("npm packages have the version and the address, also of each other", () => {
  const text = (version, address, range) => `{
  "name": "groupwire-vue",
  "version": "${version}",
  "homepage": "${address}/tree/main/web/vue#readme",
  "repository": {
    "type": "git",
    "url": "git+${address}.git",
    "directory": "web/vue"
  },
  "bugs": "${address}/issues",
  "peerDependencies": {
    "groupwire": "^${range}",
    "vue": "^3.5.0"
  }
}
`;
  const files = { "web/*/package.json": text("0.1.0", "https://elsewhere.example/x", "0.1.0") };
  const [[, right]] = different(files);
  assert.equal(right, text("1.2.3", TRUTH.repository, "1.2.3"));
  const package_ = { ...JSON.parse(right), keywords: ["a"] };
  assert.deepEqual(missing("web/vue/package.json", package_, TRUTH), []);
  assert.equal(missing("web/vue/package.json", { ...package_, bugs: undefined, keywords: [] }, TRUTH).length, 2);
  assert.equal(missing("web/react/package.json", package_, TRUTH).length, 2, "the folder is another one");
  assert.deepEqual(missing("web/e2e/package.json", { private: true }, TRUTH), []);
});

test("in package-lock.json only our packages change", () => {
  const lock = (version) => `{
    "client": {
      "name": "groupwire",
      "version": "${version}",
    },
    "node_modules/vue": {
      "name": "groupwire-vue",
      "version": "0.0.7",
    },
`;
  assert.deepEqual(different({ "web/package-lock.json": lock("0.1.0") }), [["web/package-lock.json", lock("1.2.3")]]);
});

test("our packages in Cargo.lock are those without a source", () => {
  const lock = `[[package]]
name = "groupwire-gmc"
version = "0.1.0"
dependencies = [
]

[[package]]
name = "groupwire-foreign"
version = "7.0.0"
source = "registry"
`;
  assert.deepEqual([...locked(lock)], [["groupwire-gmc", "0.1.0"]]);
});
