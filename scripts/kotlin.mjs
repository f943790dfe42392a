// How the Kotlin programs that scripts/test-kotlin.mjs compiles are run.

import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder with Kotlin's compiler and the libraries of programs, which are fetched once. */
export function kotlinTools() {
  const { status, stdout, stderr } = spawnSync(fileURLToPath(new URL("kotlin-tools.sh", import.meta.url)), {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`Kotlin's compiler and libraries cannot be fetched:\n${stdout}${stderr}`);
  return stdout.trim();
}

/** The JARs in a folder. */
export function jars(folder) {
  return readdirSync(folder).map((name) => join(folder, name));
}

/** True if the program with this main class is compiled into the folder `compiled`. */
export function isCompiled(main, compiled) {
  return existsSync(join(compiled, "programs", `${main}.class`));
}

/**
 * The arguments of Java up to a program's own. `built` is the folder with the native library,
 * `compiled` the one with the classes.
 */
export function javaArguments(main, built, compiled, tools = kotlinTools()) {
  const classes = ["native", "client", "programs"].map((name) => join(compiled, name));
  const classpath = [...classes, ...jars(join(tools, "library"))].join(":");
  return [`-Djna.library.path=${built}`, "-cp", classpath, main];
}
