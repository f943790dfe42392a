// Breaks rules of the crate groupwire-shared on purpose, one fault at a time in a copy of its
// sources, and checks that the sessions of scripts/shared-sessions.mjs notice each.
//
// Run it after `make npm`: node scripts/shared-rust-mutations.mjs [WORD...]. With words, only
// faults whose name contains one. Each fault compiles the crate, which takes some seconds.

import { spawnSync } from "node:child_process";
import { closeSync, cpSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { record } from "./shared-sessions.mjs";

/** The sessions that each fault is tried with. */
const SESSIONS = 1000;

const FAULTS = {
  "the room's order is ignored": {
    file: "replica.rs",
    from: "        self.roll_back();\n        let effect = self.apply_operation(sender, operation);",
    to: "        let effect = self.apply_operation(sender, operation);",
  },
  "operations that come again count again": {
    file: "replica.rs",
    from: "        number > mark && number - mark <= MAX_STEP",
    to: "        number.abs_diff(mark) <= MAX_STEP",
  },
  "an author's numbers may jump": {
    file: "replica.rs",
    from: "number > mark && number - mark <= MAX_STEP",
    to: "number > mark",
  },
  "an undo is not guarded": {
    file: "tables.rs",
    from: "if expected.filter(is_expected).is_some() {",
    to: "if expected.is_some() {",
  },
  "an undo is that of before an operation of somebody else": {
    file: "shared.rs",
    from: "        self.replica.refresh();\n        while let",
    to: "        while let",
  },
  "a counter takes any sum": {
    file: "tables.rs",
    from: "if sum.as_whole().is_none() {",
    to: "if false {",
  },
  "a lock is taken from its holder": {
    file: "tables.rs",
    from: 'Some("l") if holder.is_none() =>',
    to: 'Some("l") =>',
  },
  "a participant that left keeps its turn": {
    file: "tables.rs",
    from: "self.leave_turns(&name, participant, effect);",
    to: "",
  },
  "a patch of a field ignores later changes of the field": {
    file: "cell.rs",
    from: "expected.as_f64() == Some(0.0) || expected.is_same(&last)",
    to: "expected.as_f64() != Some(-1.0)",
  },
  "fields of a signature are not sorted": {
    file: "cell.rs",
    from: "sorted.sort_by(|(one, ..), (other, ..)| one.cmp(other));",
    to: "sorted.reverse();",
  },
  "names that are indexes are not sorted": {
    file: "json/object.rs",
    from: "if indexes > 0 {",
    to: "if indexes > 1000 {",
  },
  "numbers that JSON lacks are kept": {
    file: "json/mod.rs",
    from: "self.fits(levels, &|number| number.is_finite())",
    to: "self.fits(levels, &|_| true)",
  },
  "places that others made up are taken as they are": {
    file: "between.rs",
    from: '        "" => "V",',
    to: '        "" => "",',
  },
  "somebody else's operation counts as the own one with its number": {
    file: "replica.rs",
    from: "own.text == message && own.effect.is_some()",
    to: "own.number == operation.number && own.effect.is_some()",
  },
  "operations whose numbers somebody else has used are not sent again": {
    file: "replica/own.rs",
    from: "if !self.pending.iter().any(|own| own.is_taken) {",
    to: "if true {",
  },
  "nobody brings a lost state back": {
    file: "shared.rs",
    from: "for message in self.replica.restore() {",
    to: "for message in Vec::<String>::new() {",
  },
  "pieces of a state of which one is missing are put together": {
    file: "replica/bases.rs",
    from: "*known == length && texts.len() as u64 == index",
    to: "*known == length",
  },
  "a preview does not end with the operation": {
    file: "shared.rs",
    from: "self.previews.ordered(sender, name, key, &mut self.replica.tables.changes);",
    to: "let _ = (name, key);",
  },
  "a batch that fails is not taken back": {
    file: "batch.rs",
    from: "                self.abort_batch();\n                Err(error)",
    to: "                self.is_batch = false;\n                Err(error)",
  },
};

const root = fileURLToPath(new URL("..", import.meta.url));
const copy = join(root, "target/mutations/shared");
const crate = join(copy, "crates/shared");
const sessions = join(copy, "sessions.jsonl");

/** Copies the crate into a workspace of its own. */
function prepare() {
  rmSync(crate, { recursive: true, force: true });
  mkdirSync(crate, { recursive: true });
  cpSync(join(root, "crates/shared"), crate, { recursive: true });
  const manifest = readFileSync(join(root, "Cargo.toml"), "utf8");
  const alone = manifest
    .replace(/^members = .*$/m, 'members = ["crates/shared"]')
    .replace(/^default-members = .*$/m, "");
  // Of the profiles, which name other crates, only what makes the sessions fast is kept.
  writeFileSync(join(copy, "Cargo.toml"), `${alone.split("\n[profile")[0]}\n[profile.dev]\nopt-level = 1\n`);
  cpSync(join(root, "Cargo.lock"), join(copy, "Cargo.lock"));
}

/** Whether the sessions are equal with a fault. Without one they have to be. */
function passes(name) {
  const { file = "lib.rs", from = "", to = "" } = FAULTS[name] ?? {};
  const path = join(crate, "src", file);
  const source = readFileSync(path, "utf8");
  if (from && source.split(from).length !== 2) throw new Error(`the text is not in ${file} exactly once: ${from}`);
  writeFileSync(path, from ? source.replace(from, () => to) : source);
  const env = {
    ...process.env,
    CARGO_TARGET_DIR: join(root, "target/mutations/built-shared"),
    RUSTFLAGS: "--cap-lints allow",
  };
  const build = ["build", "--quiet", "--package", "groupwire-shared", "--example", "replay"];
  const built = spawnSync("cargo", build, { cwd: copy, env, stdio: "inherit" });
  if (built.status !== 0) throw new Error(`the crate does not compile: ${name}`);
  const program = join(env.CARGO_TARGET_DIR, "debug/examples/replay");
  const input = openSync(sessions, "r");
  const { status, stdout, stderr } = spawnSync(program, { stdio: [input, "pipe", "pipe"], encoding: "utf8" });
  closeSync(input);
  writeFileSync(path, source);
  const [reason = ""] = (stderr || stdout).split("\n");
  console.log(`${name || "no fault"}: ${status === 0 ? "passes" : `noticed: ${reason.slice(0, 100)}`}`);
  return status === 0;
}

prepare();
await record(sessions, [1, SESSIONS]);
if (!passes("")) throw new Error("the sessions differ without a fault");
const words = process.argv.slice(2);
const names = Object.keys(FAULTS).filter((name) => words.length === 0 || words.some((word) => name.includes(word)));
const missed = names.filter(passes);
for (const name of missed) console.error(`not noticed: ${name}`);
process.exitCode = missed.length > 0 ? 1 : 0;
