// packaging/install.sh as users run it, with a program that only prints its version, from a server
// on this machine.

import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

const SCRIPT = fileURLToPath(new URL("../../packaging/install.sh", import.meta.url));
const VERSION = "7.8.9";
const ARCHIVE = `groupwire-${VERSION}-${{ x64: "x86_64", arm64: "aarch64" }[process.arch]}-linux.tar.gz`;
// What the script needs of a system. Each test adds curl or wget.
const PROGRAMS = [
  "sh",
  "uname",
  "mktemp",
  "rm",
  "awk",
  "sha256sum",
  "cut",
  "tar",
  "gzip",
  "id",
  "mkdir",
  "cp",
  "chmod",
  "mv",
  "cat",
];

const root = mkdtempSync(join(tmpdir(), "groupwire-install-"));
const script = join(root, "install.sh");
/** The files of the server, by their paths. */
const files = new Map();
const server = createServer(({ url }, response) => {
  response.writeHead(files.has(url) ? 200 : 404).end(files.get(url));
});

before(async () => {
  writeFileSync(
    script,
    readFileSync(SCRIPT, "utf8").replaceAll("@VERSION@", VERSION).replaceAll("@REPOSITORY@", "https://example.org/a"),
  );
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
});

after(() => {
  server.close();
  rmSync(root, { recursive: true });
});

/** Puts a release on the server, whose program does what `body` says. */
function publish(body = `echo "groupwire ${VERSION}"`) {
  const name = ARCHIVE.replace(".tar.gz", "");
  const folder = join(root, name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "groupwire"), `#!/bin/sh\n${body}\n`);
  chmodSync(join(folder, "groupwire"), 0o755);
  const archive = execFileSync("tar", ["--create", "--gzip", "--directory", root, name]);
  files.clear();
  files.set(`/${ARCHIVE}`, archive);
  files.set("/SHA256SUMS", `${createHash("sha256").update(archive).digest("hex")}  ${ARCHIVE}\n`);
}

/** A folder for PATH with these programs, and with some whose text is given. */
function pathOf(names, written = {}) {
  const folder = mkdtempSync(join(root, "path-"));
  for (const name of names)
    symlinkSync(execFileSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).trim(), join(folder, name));
  for (const [name, text] of Object.entries(written)) {
    rmSync(join(folder, name), { force: true });
    writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  }
  return folder;
}

/** Runs the script. Returns its exit code, what it printed, and the folder of the program. */
function install({
  path = pathOf([...PROGRAMS, "curl"]),
  folder = join(mkdtempSync(join(root, "to-")), "bin"),
  stdin,
} = {}) {
  const env = {
    PATH: path,
    HOME: root,
    GROUPWIRE_BASE_URL: `http://127.0.0.1:${server.address().port}`,
    GROUPWIRE_INSTALL_DIR: folder,
  };
  return new Promise((resolve) => {
    const child = execFile("/bin/sh", stdin ? [] : [script], { env }, (error, stdout, stderr) =>
      resolve({ code: error ? error.code : 0, stdout, stderr, program: join(folder, "groupwire"), folder }),
    );
    child.stdin.end(stdin);
  });
}

/** Checks that nothing was installed, and that the script says why. */
function refused({ code, stderr, program }, why) {
  assert.match(stderr, why);
  assert.equal(code, 1);
  assert.equal(existsSync(program), false);
}

for (const downloader of ["curl", "wget"]) {
  test(`the program is installed with ${downloader} alone`, async () => {
    publish();
    const { code, stdout, stderr, program, folder } = await install({ path: pathOf([...PROGRAMS, downloader]) });
    assert.equal(code, 0, stderr);
    assert.match(stdout, /groupwire 7\.8\.9 is installed/);
    assert.ok(stdout.includes(`export PATH="${folder}:$PATH"`), stdout);
    assert.equal(execFileSync(program, { encoding: "utf8" }), `groupwire ${VERSION}\n`);
  });
}

test("it is installed from a pipe, over a version that is there", async () => {
  publish();
  const folder = mkdtempSync(join(root, "to-"));
  writeFileSync(join(folder, "groupwire"), "old");
  const { code, stderr, program } = await install({ folder, stdin: readFileSync(script) });
  assert.equal(code, 0, stderr);
  assert.equal(execFileSync(program, { encoding: "utf8" }), `groupwire ${VERSION}\n`);
});

test("a wrong checksum is refused", async () => {
  publish();
  files.set("/SHA256SUMS", `${"0".repeat(64)}  ${ARCHIVE}\n`);
  refused(await install(), /SHA256SUMS says 0{64}: the file is damaged or not ours/);
});

test("a file that the sums do not name is refused", async () => {
  publish();
  files.set("/SHA256SUMS", `${"0".repeat(64)}  x${ARCHIVE}\n`);
  refused(await install(), /does not name/);
});

test("a missing file is named", async () => {
  files.clear();
  refused(await install(), new RegExp(`${ARCHIVE} cannot be downloaded`));
});

test("an unknown platform is named", async () => {
  publish();
  const path = pathOf([...PROGRAMS, "curl"], { uname: "case $1 in -s) echo Darwin ;; *) echo arm64 ;; esac" });
  refused(await install({ path }), /no program for Darwin on arm64. Build it from its sources/);
});

test("without curl and wget it says what to install", async () => {
  publish();
  refused(await install({ path: pathOf(PROGRAMS) }), /neither curl nor wget/);
});

test("without a program for checksums nothing is installed", async () => {
  publish();
  const path = pathOf([...PROGRAMS.filter((name) => name !== "sha256sum"), "curl"]);
  refused(await install({ path }), /neither sha256sum nor shasum/);
});

test("a folder that cannot be made is named", async () => {
  publish();
  refused(await install({ folder: "/dev/null/bin" }), /cannot be created. Name another folder/);
});

test("a program that does not run here is reported", async () => {
  publish("exit 3");
  const { code, stderr } = await install();
  assert.equal(code, 1);
  assert.match(stderr, /does not run on this machine/);
});
