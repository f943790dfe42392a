// Tests the Kotlin client in uniffi/: generates the Kotlin and Swift sources, compiles the Kotlin
// with warnings as errors, and runs the checks and the chat of examples/kotlin against the real
// server. The first argument is the server's binary, the second one the folder of Cargo's dev
// profile with the native part. Needs Java 17; without it the tests are skipped and counted.

import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { jars, javaArguments, kotlinTools } from "./kotlin.mjs";
import { startServer } from "./server.mjs";
import { countSkipped } from "./skipped.mjs";
import { Tokens } from "./tokens.mjs";

const script = (name) => fileURLToPath(new URL(name, import.meta.url));
const [binary, built] = process.argv.slice(2);
const folder = script("../uniffi");

// A time that no test reaches: beside other builds the compiler takes more than five minutes.
const PATIENCE_MS = 1_800_000;

const out = join(built, "kotlin");
const children = new Set();
process.on("exit", () => children.forEach((child) => child.kill()));

const java = spawnSync("java", ["-version"], { encoding: "utf8" });
const version = Number(/version "(\d+)/.exec(java.stderr ?? "")?.[1] ?? 0);
if (version < 17) skip("the Kotlin client and the generated Swift", version ? "Java 17 or newer" : "java");

mkdirSync(out, { recursive: true });
const tools = kotlinTools();
const library = ["libgroupwire_uniffi.so", "libgroupwire_uniffi.dylib"]
  .map((name) => join(built, name))
  .find((path) => existsSync(path));
if (!library) fail(`there is no native part in ${built}`, "cargo build --package groupwire-uniffi makes it\n");

const generated = join(out, "generated");
generate();
compile();

let server = await startServer(binary);
const tokens = new Tokens(binary, join(out, "keys.json"));
const guarded = await startServer(binary, tokens.options);
await checks();
await chat();
await throughput();
scenarios();
console.log("test-kotlin: all passed; the Swift sources are generated, not compiled: there is no Swift compiler here");
process.exit(0);

/** Writes the sources of both languages into an empty folder, so that no old file is compiled. */
function generate() {
  rmSync(generated, { recursive: true, force: true });
  const bindgen = script("uniffi-bindgen/Cargo.toml");
  const target = script("../.cache/tools/uniffi-bindgen");
  const cargo = ["--quiet", "--locked", "--manifest-path", bindgen, "--target-dir", target];
  run("building the generator", "cargo", ["build", ...cargo]);
  for (const language of ["kotlin", "swift"]) {
    const to = join(generated, language);
    const names = ["--config", join(folder, "uniffi.toml")];
    const options = ["--no-format", ...names, "--language", language, "--out-dir", to, library];
    run(`generating ${language}`, join(target, "debug/groupwire-uniffi-bindgen"), ["generate", ...options]);
    const files = readdirSync(to, { recursive: true }).filter((name) => /\.(kt|swift|h|modulemap)$/.test(name));
    console.log(`test-kotlin: generated ${language}: ${files.join(", ")}`);
  }
  const swift = readFileSync(join(generated, "swift/Groupwire.swift"), "utf8");
  for (const part of ["open class Session", "func ready()async throws", "public enum Event", "case expired"]) {
    if (!swift.replaceAll(/\s*async/g, "async").includes(part)) fail(`the Swift sources lack "${part}"`);
  }
}

function compile() {
  const classes = (name) => join(out, name);
  const strict = ["-Werror", "-Xexplicit-api=strict"];
  // The generator's sources are not ours to keep free of warnings.
  const native = kotlinc("generated sources", classes("native"), [], [join(generated, "kotlin")], []);
  const client = kotlinc("the client", classes("client"), [native], [join(folder, "kotlin/groupwire")], strict);
  const examples = ["Chat.kt", "Throughput.kt"].map((name) => script(`../examples/kotlin/${name}`));
  const programs = [join(folder, "kotlin/test/Checks.kt"), ...examples, script("../conformance/drivers/kotlin")];
  kotlinc("checks and examples", classes("programs"), [native, client], programs, strict);
}

/**
 * Compiles sources, unless the folder `to` was compiled from the same. Returns what stands for the
 * result: the hash of all that it was made of.
 */
function kotlinc(what, to, made, sources, options) {
  const files = sources.flatMap((path) => (path.endsWith(".kt") ? [path] : kotlinFiles(path)));
  const hash = createHash("sha256").update(JSON.stringify([tools, options, ...made.map(({ hash }) => hash)]));
  for (const file of files) hash.update(readFileSync(file));
  const result = { to, hash: hash.digest("hex") };
  const stamp = `${to}.sha256`;
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === result.hash) return result;
  rmSync(stamp, { force: true });
  rmSync(to, { recursive: true, force: true });
  const classpath = [...jars(join(tools, "library")), ...made.map(({ to }) => to)].join(":");
  const compiler = jars(join(tools, "compiler"))
    .concat(jars(join(tools, "library")))
    .join(":");
  // The compiler runs for seconds: the second stage of Java's own compiler would not pay.
  const main = ["-XX:TieredStopAtLevel=1", "-cp", compiler, "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler"];
  const fixed = ["-no-stdlib", "-no-reflect", "-jvm-target", "17", "-module-name", "groupwire"];
  run(`compiling ${what}`, "java", [...main, ...fixed, ...options, "-cp", classpath, "-d", to, ...files]);
  writeFileSync(stamp, result.hash);
  return result;
}

function kotlinFiles(path) {
  const names = readdirSync(path, { recursive: true }).filter((name) => name.endsWith(".kt"));
  return names.sort().map((name) => join(path, name));
}

/** Runs the checks, and does what they ask for. */
async function checks() {
  const args = [`ws://${server.address}`, `ws://${guarded.address}`, tokens.make({ seconds: -60 }), tokens.make()];
  const child = program("ChecksKt", args);
  let printed = "";
  let leave;
  for await (const line of createInterface({ input: child.stdout })) {
    printed += `${line}\n`;
    const [, asked, name] = /^ask: (\w+) ?(.*)$/.exec(line) ?? [];
    if (asked === "peer") leave = await peer(name);
    if (asked === "leave") leave();
    if (asked === "restart") await restart();
    if (asked) child.stdin.write("done\n");
    else if (/^check: |^ {2}before/.test(line)) console.log(`test-kotlin: ${line}`);
  }
  if (!printed.endsWith("all checks passed\n")) fail("the checks failed", printed);
}

/** A participant in Node, which answers each message by its content; returns how it leaves. */
async function peer(name) {
  const { connect, transaction } = await import("../web/client/dist/node.js");
  const room = connect(`http://${server.address}`, name);
  const chat = room.channel("chat", transaction());
  chat.on("message", ({ data, own }) => {
    if (!own) chat.send(typeof data === "string" ? `echo ${data}` : data);
  });
  chat.send("hello from Node");
  return () => room.leave();
}

/** Two people chat; what one types the other one sees. */
async function chat() {
  const people = ["Ann", "Bob"].map((name) => program("ChatKt", [`ws://${server.address}`, "chat-example", name]));
  const [ann, bob] = people.map((child) => follow(child));
  await Promise.all([ann.sees("* you are in room"), bob.sees("* you are in room")]);
  await Promise.all([ann.sees("* Bob is here"), bob.sees("* Ann is here")]);
  people[0].stdin.write("hello, Bob\n");
  await Promise.all([ann.sees("you: hello, Bob"), bob.sees("Ann: hello, Bob")]);
  people[1].stdin.end("good bye\n");
  await Promise.all([ann.sees("Bob: good bye"), ann.sees("* Bob left"), bob.ends(0)]);
  people[0].stdin.end();
  await ann.ends(0);
  const wrong = follow(program("ChatKt", ["gopher://nowhere", "x", "Ann"]));
  await wrong.ends(1);
  console.log("test-kotlin: the chat of examples/kotlin");
}

/** Plays the scenarios of the conformance suite. */
function scenarios() {
  const printed = run("the conformance suite", process.execPath, [
    ...[script("../conformance/run.mjs"), binary, built, "--language", "Kotlin"],
  ]);
  console.log(`test-kotlin: ${printed.trim().split("\n").at(-1)}`);
}

/** Only that it runs: scripts/bench-clients.mjs measures. */
async function throughput() {
  const measuring = follow(program("ThroughputKt", [`ws://${server.address}`, "2000"]));
  await measuring.sees("messages/s");
  await measuring.ends(0);
  console.log("test-kotlin: the measurement of examples/kotlin");
}

function program(main, args) {
  // A small heap, so that garbage is collected while the checks look for growth.
  const options = ["-Xmx64m", ...javaArguments(main, built, out, tools), ...args];
  const child = spawn("java", options, { stdio: ["pipe", "pipe", "inherit"] });
  children.add(child);
  const hangs = setTimeout(() => fail(`${main} did not end in time`), PATIENCE_MS);
  child.on("close", () => clearTimeout(hangs));
  return child;
}

/** Waits for what a program prints, and for its end. */
function follow(child) {
  let printed = "";
  const waiting = new Set();
  const news = () => waiting.forEach((look) => look());
  child.stdout.on("data", (data) => news((printed += data)));
  const ended = new Promise((resolve) => child.on("close", (code) => news(resolve(code))));
  const sees = (text) =>
    new Promise((resolve) => {
      const look = () => {
        if (printed.includes(text)) resolve(waiting.delete(look));
        else if (child.exitCode !== null) fail(`the program did not print "${text}"`, printed);
      };
      waiting.add(look);
      look();
    });
  const ends = async (expected) => {
    const code = await ended;
    if (code !== expected) fail(`the program ended with ${code}`, printed);
  };
  return { sees, ends };
}

/** Kills the server, and starts another one at its address. */
async function restart() {
  await server.kill();
  server = await startServer(binary, [], server.address);
}

function run(what, command, args) {
  const ran = spawnSync(command, args, { cwd: folder, encoding: "utf8", timeout: PATIENCE_MS });
  if (ran.status !== 0) {
    fail(
      `${what} failed (${ran.error?.message ?? ran.signal ?? ran.status})`,
      `${ran.stdout ?? ""}${ran.stderr ?? ""}`,
    );
  }
  return ran.stdout;
}

function fail(why, printed = "") {
  process.stderr.write(printed);
  console.error(`test-kotlin: ${why}`);
  process.exit(1);
}

/** Counts a test that this machine cannot run (scripts/skipped.mjs), and ends. */
function skip(test, need) {
  console.log(`test-kotlin: skipped ${test}: needs ${need}`);
  countSkipped(`kotlin: ${test}`, need);
  process.exit(0);
}
