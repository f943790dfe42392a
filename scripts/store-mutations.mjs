// Breaks the store on purpose, one fault at a time in a copy of the sources, and checks that its tests notice each.
//
// Run it from anywhere: node scripts/store-mutations.mjs [NAME...]. Each fault compiles the crate and runs its tests, which
// takes a minute or more, so this is not part of `make test`.

import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

// Each fault: a name, the file in crates/store/src, the text that is replaced, its replacement, and the tests that must fail.
const FAULTS = [
  {
    name: "commits are not synced",
    file: "schema.rs",
    from: 'connection.pragma_update(None, "synchronous", "FULL")?;\n    // Checkpoints',
    to: 'connection.pragma_update(None, "synchronous", "OFF")?;\n    // Checkpoints',
    test: "crashes::",
  },
  {
    name: "checksums are not compared",
    file: "rows.rs",
    from: "i64::from(self.header.crc(hash(self.bytes))) == self.crc",
    to: "true",
    test: "damage::",
  },
  {
    name: "the part is valid before its pieces are written",
    file: "saving.rs",
    from: "if saving.written < bytes.len() {",
    to: "if saving.written == 0 && !bytes.is_empty() {\n            let row = part_row(1, saving.id, &saving.save.part, 0);\n            let _ = self.transaction(|db| row.insert(db));\n        }\n        if saving.written < bytes.len() {",
    test: "crashes::",
  },
  {
    name: "records are trimmed once the newest part covers them",
    file: "history.rs",
    from: "        .filter(|part| now.saturating_sub(part.taken) >= history)\n",
    to: "",
    test: "basics::",
  },
  {
    name: "answers come before the commit",
    file: "writer.rs",
    from: "for (append, room, _) in &staged {",
    to: "for (_, _, answer) in &mut staged {\n                    std::mem::replace(answer, Answer::new(Box::new(|_| ()))).send(Ok(()));\n                }\n                for (append, room, _) in &staged {",
    test: "crashes::",
  },
  {
    name: "a failed sync does not poison",
    file: "writer.rs",
    from: "Err(error) if kind(&error) == Kind::Full && self.roll_back() => {",
    to: "Err(_) if self.roll_back() => {",
    test: "crashes::a_sync",
  },
  {
    name: "deleted content is not overwritten",
    file: "schema.rs",
    from: '"secure_delete", "ON"',
    to: '"secure_delete", "OFF"',
    test: "erasure::",
  },
  {
    name: "gaps of pages are not cleared",
    file: "gap.rs",
    from: "    let gap = find(page)?;\n",
    to: "    let gap = find(&page[..0])?;\n",
    test: "erasure::",
  },
  {
    name: "pages with gaps stay in the cache",
    file: "sweep.rs",
    from: "PRAGMA shrink_memory",
    to: "",
    test: "erasure::",
  },
  {
    name: "the write-ahead log is not truncated",
    file: "sweep.rs",
    from: 'self.checkpoint("TRUNCATE")',
    to: 'self.checkpoint("PASSIVE")',
    test: "erasure::",
  },
  {
    name: "orphans are not erased at the start",
    file: "scan.rs",
    from: "None => self.state.garbage.add_row(row.id, entry.cost()),",
    to: "None => {}",
    test: "erasure::",
  },
  {
    name: "free pages are kept",
    file: "compact.rs",
    from: "if free > live / 4 + slack / 4 {",
    to: "if free > u64::MAX / 2 {",
    test: "erasure::",
  },
  {
    name: "the structure is not checked",
    file: "scan.rs",
    from: 'if found == "ok" {',
    to: 'if found == "ok" || !found.is_empty() {',
    test: "damage::",
  },
  {
    name: "positions are not compared",
    file: "plan.rs",
    from: "if record.position != expected {",
    to: "if record.position == 0 && expected == 0 {",
    test: "basics::",
  },
];

function main() {
  const wanted = process.argv.slice(2);
  const faults = FAULTS.filter(({ name }) => wanted.length === 0 || wanted.some((word) => name.includes(word)));
  const copy = mkdtempSync(join(tmpdir(), "store-mutations-"));
  try {
    for (const path of execFileSync("git", ["ls-files"], { cwd: root, encoding: "utf8" }).trim().split("\n")) {
      if (/^(Cargo|clippy|crates\/|lab\/)/.test(path)) cpSync(join(root, path), join(copy, path));
    }
    const missed = faults.filter((fault) => !isNoticed(copy, fault));
    console.log(`${faults.length - missed.length} of ${faults.length} faults are noticed`);
    for (const { name } of missed) console.error(`not noticed: ${name}`);
    process.exitCode = missed.length > 0 ? 1 : 0;
  } finally {
    rmSync(copy, { recursive: true });
  }
}

function isNoticed(copy, { name, file, from, to, test }) {
  const path = join(copy, "crates/store/src", file);
  const source = readFileSync(path, "utf8");
  if (source.split(from).length !== 2) throw new Error(`${name}: the text is not in ${file} exactly once`);
  writeFileSync(
    path,
    source.replace(from, () => to),
  );
  const cargo = (...args) =>
    spawnSync("cargo", ["test", "--quiet", "--package", "groupwire-store", "--test", "all", ...args], {
      cwd: copy,
      encoding: "utf8",
      env: { ...process.env, CARGO_TARGET_DIR: join(root, "target"), RUST_BACKTRACE: "0" },
    });
  const build = cargo("--no-run");
  if (build.status !== 0) throw new Error(`${name}: does not compile\n${build.stderr}`);
  const failed = cargo("--", test).status !== 0;
  console.log(`${failed ? "noticed" : "NOT NOTICED"}: ${name}`);
  writeFileSync(path, source);
  return failed;
}

main();
