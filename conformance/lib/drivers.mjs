// The drivers of this machine. Those that cannot be made say what is missing.

import { spawnSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isCompiled, javaArguments } from "../../scripts/kotlin.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));

const MAKERS = { TypeScript: typeScript, Rust: rust, Python: python, C: c, Kotlin: kotlin };

/** The names of all languages with a driver. */
export const ALL = Object.keys(MAKERS);

/** The languages in the table. `make test-kotlin` plays Kotlin, whose compiler takes minutes. */
export const LANGUAGES = ALL.filter((language) => language !== "Kotlin");

/**
 * Makes the driver of a language: { language, command, env } or { language, missing }. `built` is
 * the folder of Cargo's dev profile.
 */
export function makeDriver(language, built) {
  const out = join(built, "conformance");
  mkdirSync(out, { recursive: true });
  return { language, ...MAKERS[language](built, out) };
}

function typeScript() {
  if (!existsSync(join(root, "web/client/dist/node.js"))) return { missing: "the web client: make web" };
  return { command: [process.execPath, join(root, "conformance/drivers/node.mjs")] };
}

function rust(built) {
  const program = join(built, "groupwire-conformance");
  if (!existsSync(program)) return { missing: "cargo build --package groupwire-conformance" };
  return { command: [program] };
}

/** The package as an application has it: our modules, and the native part beside them. */
function python(built, out) {
  const native = ["lib_native.so", "lib_native.dylib"].map((name) => join(built, name)).find(existsSync);
  if (!native) return { missing: "cargo build --package groupwire-python" };
  const interpreter = process.env.GROUPWIRE_PYTHON ?? "python3";
  const isNew = ["-c", "import sys; sys.exit(sys.version_info < (3, 10))"];
  if (spawnSync(interpreter, isNew, { stdio: "ignore" }).status !== 0) return { missing: "Python 3.10" };
  const packages = join(out, "python");
  rmSync(packages, { recursive: true, force: true });
  cpSync(join(root, "python/groupwire"), join(packages, "groupwire"), { recursive: true });
  copyFileSync(native, join(packages, "groupwire/_native.abi3.so"));
  const env = { PYTHONPATH: packages, PYTHONDONTWRITEBYTECODE: "1" };
  return { command: [interpreter, join(root, "conformance/drivers/python.py")], env };
}

/** What `scripts/test-kotlin.mjs` has compiled. */
function kotlin(built) {
  const compiled = join(built, "kotlin");
  if (!isCompiled("DriverKt", compiled)) return { missing: "make test-kotlin" };
  // A scenario takes seconds: the second stage of Java's own compiler would not pay.
  return { command: ["java", "-XX:TieredStopAtLevel=1", ...javaArguments("DriverKt", built, compiled)] };
}

function c(built, out) {
  const library = join(built, "libgroupwire.a");
  if (!existsSync(library)) return { missing: "cargo build --package groupwire-c" };
  const program = join(out, "driver-c");
  const sources = ["driver.c", "answer.c", "json.c", "shared.c"].map((name) =>
    join(root, "conformance/drivers/c", name),
  );
  const options = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-g", "-I", join(root, "crates/c/include")];
  const libraries = [library, "-lpthread", "-ldl", "-lm"];
  const made = spawnSync("cc", [...options, ...sources, "-o", program, ...libraries], { encoding: "utf8" });
  if (made.error) return { missing: "cc" };
  if (made.status !== 0) throw new Error(`the driver in C does not compile:\n${made.stderr}`);
  return { command: [program] };
}
