// Compiles the C programs in examples/c and crates/c/tests, and runs them against the real server:
// with the compiler's checks for addresses and leaks, and under valgrind. The first argument is the
// server's binary, the second one the folder of Cargo's dev profile with libgroupwire.a.

import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startServer } from "./server.mjs";
import { countSkipped } from "./skipped.mjs";

const script = (name) => fileURLToPath(new URL(name, import.meta.url));
const [binary, built] = process.argv.slice(2);
const include = script("../crates/c/include");
const programs = [
  { name: "avatars", source: script("../examples/c/avatars.c"), given: (room) => ["120", "3", room], datagrams: true },
  {
    name: "contract",
    source: script("../crates/c/tests/contract.c"),
    given: (how) => (how === "valgrind" ? ["50", "no-fork"] : ["50"]),
  },
  { name: "shared", source: script("../crates/c/tests/shared.c"), given: () => [] },
];

// A program takes some seconds, and under valgrind on a busy machine minutes. One that takes longer
// than this hangs.
const PATIENCE_MS = 600_000;

const out = join(built, "c");
mkdirSync(out, { recursive: true });
if (!has("cc")) {
  skip("the C programs", "cc");
  process.exit(0);
}
const server = await startServer(binary);
try {
  for (const program of programs) test(program);
} finally {
  await server.kill();
}
// A program in C++ can use the header.
run("c++ header", "cc", ["-x", "c++", "-std=c++11", "-Wall", "-Werror", "-fsyntax-only", join(include, "groupwire.h")]);

function test({ name, source, given, datagrams }) {
  const plain = join(out, name);
  compile(source, plain, []);
  const printed = run(`${name} over datagrams`, plain, [`https://${server.address}`, ...given("datagrams")]);
  if (datagrams && !/ [1-9]\d* datagrams out, [1-9]/.test(printed)) fail(`${name} sent no datagrams`, printed);
  run(`${name} over a stream`, plain, [`ws://${server.address}`, ...given("stream")]);
  const sanitized = join(out, `${name}-sanitized`);
  compile(source, sanitized, ["-fsanitize=address,undefined", "-fno-sanitize-recover"]);
  run(`${name} with the address sanitizer`, sanitized, [`ws://${server.address}`, ...given("sanitized")]);
  if (!has("valgrind")) return skip(`${name} under valgrind`, "valgrind");
  // Of a forked child, whose parent's threads are gone, valgrind says that their memory is lost.
  const checks = ["--quiet", "--error-exitcode=9", "--leak-check=full", "--errors-for-leak-kinds=definite"];
  run(`${name} under valgrind`, "valgrind", [...checks, plain, `ws://${server.address}`, ...given("valgrind")]);
}

function compile(source, to, options) {
  const strict = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-g", ...options];
  const libraries = [join(built, "libgroupwire.a"), "-lpthread", "-ldl", "-lm"];
  run(`cc ${to}`, "cc", [...strict, "-I", include, source, "-o", to, ...libraries]);
}

function run(what, program, args) {
  const ran = spawnSync(program, args, { encoding: "utf8", timeout: PATIENCE_MS });
  if (ran.status !== 0) {
    const why = ran.error?.message ?? ran.signal ?? ran.status;
    fail(`${what} failed (${why})`, `${ran.stdout ?? ""}${ran.stderr ?? ""}`);
  }
  console.log(`test-c: ${what}`);
  return ran.stdout;
}

function fail(why, printed) {
  process.stderr.write(printed);
  console.error(`test-c: ${why}; the server ${server.state}`);
  process.exit(1);
}

function has(program) {
  return spawnSync("sh", ["-c", 'command -v "$1"', "sh", program], { stdio: "ignore" }).status === 0;
}

/** Counts a test that this machine cannot run (scripts/skipped.mjs). */
function skip(test, need) {
  console.log(`test-c: skipped ${test}: needs ${need}`);
  countSkipped(`c: ${test}`, need);
}
