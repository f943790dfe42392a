// What a release is made of, with a program that only prints its version: packages, images, the
// formula, signatures, and the workflows of the public host.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { VARIABLE } from "../skipped.mjs";
import { reproducible } from "./sbom.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const work = mkdtempSync(join(tmpdir(), "groupwire-release-"));
const version = run("node", "scripts/release/versions.mjs", "--print", "version").trim();
const ARCHITECTURES = ["x86_64", "aarch64"];

/** Runs a program in the repository. Returns what it prints; fails if the program fails. */
function run(program, ...options) {
  const { status, stdout, stderr } = spawnSync(program, options, { cwd: root, encoding: "utf8", maxBuffer: 1 << 28 });
  assert.equal(status, 0, `${program} ${options.join(" ")}: ${stderr}${stdout}`);
  return stdout;
}

/** A folder as scripts/release/programs.sh leaves it. */
function programs(name) {
  const folder = join(work, name);
  for (const architecture of ARCHITECTURES) {
    mkdirSync(join(folder, ".unpacked", architecture), { recursive: true });
    const program = join(folder, ".unpacked", architecture, "groupwire");
    writeFileSync(program, `#!/bin/sh\necho "groupwire ${version}"\n`);
    chmodSync(program, 0o755);
    writeFileSync(join(folder, `groupwire-${version}-${architecture}-linux.tar.gz`), architecture);
  }
  for (const part of ["man", "completions"]) mkdirSync(join(folder, ".unpacked", part));
  writeFileSync(join(folder, ".unpacked/man/groupwire.1"), ".TH groupwire 1\n");
  for (const shell of ["bash", "zsh", "fish"])
    writeFileSync(join(folder, ".unpacked/completions", `groupwire.${shell}`), "");
  return folder;
}

/** The hash of each file with one of these ends. */
function hashes(folder, ...ends) {
  const names = ends.map((end) => `groupwire-${version}-${end}`);
  return names.map((name) =>
    createHash("sha256")
      .update(readFileSync(join(folder, name)))
      .digest("hex"),
  );
}

/** Declares a test that needs a program; without it, the test counts as skipped. */
function testWith(program, name, body) {
  const has = spawnSync("sh", ["-c", `command -v ${program}`]).status === 0;
  if (!has && process.env[VARIABLE]) appendFileSync(process.env[VARIABLE], `${name}: needs ${program}\n`);
  test(name, { skip: has ? false : `needs ${program}` }, body);
}

let first, second;
before(() => ([first, second] = ["first", "second"].map(programs)));
after(() => rmSync(work, { recursive: true }));

test("the image is an index of both architectures, whose blobs have the digests that name them", () => {
  for (const folder of [first, second]) run("scripts/release/image.sh", folder);
  const layout = join(work, "layout");
  mkdirSync(layout);
  run("tar", "--extract", "--directory", layout, "--file", join(first, `groupwire-${version}-image.tar`));
  const blob = ({ digest, size }) => {
    const bytes = readFileSync(join(layout, "blobs", digest.replace(":", "/")));
    assert.equal(bytes.length, size);
    assert.equal(`sha256:${createHash("sha256").update(bytes).digest("hex")}`, digest);
    return bytes;
  };
  const json = (descriptor) => JSON.parse(blob(descriptor));
  const [index] = JSON.parse(readFileSync(join(layout, "index.json"))).manifests;
  const { manifests } = json(index);
  assert.deepEqual(
    manifests.map(({ platform }) => platform.architecture),
    ["amd64", "arm64"],
  );
  for (const descriptor of manifests) {
    const { config, layers } = json(descriptor);
    const { config: how, rootfs, architecture } = json(config);
    assert.equal(architecture, descriptor.platform.architecture);
    assert.equal(how.User, "10001:10001");
    assert.deepEqual(how.Healthcheck.Test, ["CMD", "/usr/local/bin/groupwire", "health"]);
    const unpacked = layers.map((layer) =>
      execFileSync("gzip", ["--decompress"], { input: blob(layer), maxBuffer: 1 << 28 }),
    );
    assert.deepEqual(
      unpacked.map((tar) => `sha256:${createHash("sha256").update(tar).digest("hex")}`),
      rootfs.diff_ids,
    );
    const lists = unpacked.map((tar) => execFileSync("tar", ["--list", "--verbose"], { input: tar, encoding: "utf8" }));
    assert.match(lists.join(""), /^-rwxr-xr-x 0\/0 .* usr\/local\/bin\/groupwire$/m);
    assert.match(lists.join(""), /^drwx------ 10001\/10001 .* var\/lib\/groupwire\/$/m);
    assert.match(lists.join(""), /etc\/ssl\/certs\/ca-certificates\.crt/);
  }
});

test("images are the same in another folder", () => {
  const names = ["image.tar", "image-amd64.tar", "image-arm64.tar"];
  assert.deepEqual(hashes(first, ...names), hashes(second, ...names));
});

test("the archive of one architecture has what docker load reads", () => {
  const file = join(first, `groupwire-${version}-image-arm64.tar`);
  const [{ Config, RepoTags, Layers }] = JSON.parse(
    run("tar", "--extract", "--to-stdout", "--file", file, "./manifest.json"),
  );
  assert.deepEqual(RepoTags, [`groupwire:${version}`]);
  const list = run("tar", "--list", "--file", file);
  for (const name of [Config, ...Layers]) assert.ok(list.includes(`./${name}\n`), name);
});

testWith("go", "packages for Debian and Fedora have the unit, and are the same in another folder", () => {
  for (const folder of [first, second]) run("scripts/release/packages.sh", folder);
  const names = ARCHITECTURES.flatMap((architecture) => ["deb", "rpm"].map((end) => `${architecture}-linux.${end}`));
  assert.deepEqual(hashes(first, ...names), hashes(second, ...names));
  if (spawnSync("dpkg-deb", ["--version"]).status !== 0) return;
  const deb = join(first, `groupwire-${version}-aarch64-linux.deb`);
  assert.equal(
    run("dpkg-deb", "--field", deb, "Architecture", "Version").trim(),
    `Architecture: arm64\nVersion: ${version}`,
  );
  const unit = execFileSync("sh", [
    "-c",
    `dpkg-deb --fsys-tarfile "$1" | tar --extract --to-stdout ./usr/lib/systemd/system/groupwire.service`,
    "sh",
    deb,
  ]);
  assert.match(unit.toString(), /^ExecStart=\/usr\/bin\/groupwire serve/m);
  assert.doesNotMatch(unit.toString(), /usr\/local/);
});

testWith("ruby", "the formula is valid Ruby, with the hashes of the archives", () => {
  run("scripts/release/installers.sh", first);
  const formula = join(first, "groupwire.rb");
  run("ruby", "-c", formula);
  const text = readFileSync(formula, "utf8");
  for (const hash of hashes(first, "x86_64-linux.tar.gz", "aarch64-linux.tar.gz", "source.tar.gz"))
    assert.ok(text.includes(hash));
  for (const file of ["groupwire.rb", "install.sh"])
    assert.doesNotMatch(readFileSync(join(first, file), "utf8"), /@[A-Z]\w+@/);
});

testWith("ssh-keygen", "sums are signed by the key that the environment names, and a changed file is found", () => {
  const folder = join(work, "signed");
  mkdirSync(folder);
  writeFileSync(join(folder, "a"), "a");
  assert.match(run("scripts/release/sums.sh", folder), /NOT SIGNED/);
  assert.equal(existsSync(join(folder, "SHA256SUMS.sig")), false);

  const key = join(work, "key");
  run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key);
  run("env", `GROUPWIRE_SIGNING_KEY=${key}`, "scripts/release/sums.sh", folder);
  const check = (sums) =>
    spawnSync(
      "ssh-keygen",
      ["-Y", "verify", "-f", "allowed_signers", "-I", "groupwire", "-n", "groupwire-release", "-s", "SHA256SUMS.sig"],
      { cwd: folder, input: sums },
    ).status;
  const sums = readFileSync(join(folder, "SHA256SUMS"), "utf8");
  assert.equal(sums, `${createHash("sha256").update("a").digest("hex")}  a\n`);
  assert.equal(check(sums), 0);
  assert.notEqual(check(sums.replace(/^./, (digit) => (digit === "0" ? "1" : "0"))), 0);
});

test("a bill of materials keeps no time, serial number or path of this machine, and names packages", () => {
  const ours = { name: "react", purl: "pkg:npm/groupwire-react@0.1.0" };
  const component = (root) => ({ "bom-ref": `path+file://${root}/crates/cli` });
  const bom = {
    serialNumber: "urn:uuid:1",
    metadata: { timestamp: "now", component: component("/a/b") },
    components: [ours],
  };
  assert.deepEqual(JSON.parse(reproducible(bom, "/a/b/", 86_400)), {
    metadata: { timestamp: "1970-01-02T00:00:00.000Z", component: component("/groupwire") },
    components: [{ ...ours, name: "groupwire-react" }],
  });
});

testWith("go", "the workflows have no errors, and every action is pinned to a commit", () => {
  const actionlint = run("scripts/release/go-tool.sh", "actionlint").trim();
  const workflows = [".github/workflows/ci.yml", ".github/workflows/release.yml"];
  run(actionlint, ...workflows);
  for (const file of workflows) {
    const uses = [...readFileSync(join(root, file), "utf8").matchAll(/uses: (\S+)/g)].map(([, action]) => action);
    assert.ok(uses.length > 0);
    for (const action of uses) assert.match(action, /@[0-9a-f]{40}$/, file);
  }
  const wrong = spawnSync(actionlint, ["-"], {
    input: "on: push\njobs: { a: { runs-on: x, steps: [{ run: '${{ nothing.x }}' }] } }\n",
  });
  assert.notEqual(wrong.status, 0);
});

testWith("shellcheck", "the scripts of a release and install.sh have no errors that shellcheck finds", () => {
  const scripts = run(
    "git",
    "ls-files",
    "scripts/release/*.sh",
    "packaging/install.sh",
    "packaging/packages/deb",
    "packaging/packages/rpm",
  );
  run("shellcheck", "--severity", "warning", "--external-sources", ...scripts.trim().split("\n"));
});
