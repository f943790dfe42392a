// Compares clients in Rust, C, Python and Kotlin in one run: bench-clients.mjs SERVER FOLDER
// [MESSAGES]. SERVER is the groupwire command, FOLDER that of Cargo's profile with libgroupwire.a,
// lib_native.so, libgroupwire_uniffi.so and examples/throughput. Kotlin is measured if
// `make test-kotlin` has compiled it. Each program sends MESSAGES transactions of some 100 bytes
// from one room to another in the same process, over a real server, three times in turn.

import { spawnSync } from "node:child_process";
import { copyFileSync, cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isCompiled, javaArguments } from "./kotlin.mjs";
import { startServer } from "./server.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const [binary, built, messages = "100000"] = process.argv.slice(2);
const made = mkdtempSync(join(tmpdir(), "groupwire-bench-"));

const c = join(made, "throughput");
const libraries = [join(built, "libgroupwire.a"), "-lpthread", "-ldl", "-lm"];
const source = join(root, "examples/c/throughput.c");
run("cc", ["-std=c11", "-O2", "-I", join(root, "crates/c/include"), source, "-o", c, ...libraries]);
cpSync(join(root, "python/groupwire"), join(made, "groupwire"), { recursive: true });
copyFileSync(join(built, "lib_native.so"), join(made, "groupwire/_native.abi3.so"));

// By default a server lets a participant send 4 MiB at once and then 1 MiB a second
// (docs/operations/limits.md): with more messages than that its quota would be measured.
const server = await startServer(binary, ["--participant-bytes", "0", "--participant-deliveries", "0"]);
try {
  const url = `ws://${server.address}`;
  const compiled = join(root, "target/debug/kotlin");
  const java = isCompiled("ThroughputKt", compiled) && javaArguments("ThroughputKt", built, compiled);
  if (!java) console.log("without Kotlin, which `make test-kotlin` compiles");
  for (let round = 1; round <= 3; round++) {
    console.log(`round ${round}, ${messages} messages`);
    console.log(`  Rust    ${run(join(built, "examples/throughput"), [url, messages])}`);
    console.log(`  C       ${run(c, [url, messages])}`);
    console.log(`  Python  ${run("python3", [join(root, "python/examples/throughput.py"), url, messages])}`);
    if (java) console.log(`  Kotlin  ${run("java", [...java, url, messages])}`);
  }
} finally {
  await server.kill();
  rmSync(made, { recursive: true });
}

function run(program, args) {
  const ran = spawnSync(program, args, { encoding: "utf8", env: { ...process.env, PYTHONPATH: made } });
  if (ran.status !== 0) throw new Error(`${program}: ${ran.error ?? ran.stderr}`);
  return ran.stdout.trim();
}
