// Breaks the promises of clusters on purpose, one fault at a time in a copy of the sources, and
// checks that the simulation of crates/cluster notices each, within its usual number of seeds: that
// of opaque payloads, or that of rooms and their clients.
//
// Run it from anywhere: node scripts/cluster-mutations.mjs [WORD...]. With words, only faults whose
// name contains one; "rooms:" names those of rooms. Each fault compiles a crate and runs its
// simulation, some 20 s, so this is not part of `make test`.

import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
// Always the same folder, so that only changed files are compiled again, with build output of its
// own: Cargo identifies crates by their names.
const copy = join(root, "target/mutations/cluster-source");
const built = join(root, "target/mutations/cluster-built");

// `file` is below crates; each first text of `edits` is replaced by the second one. `test` is the
// test that has to notice the fault.
const PAYLOADS = [
  {
    name: "appends are not fenced",
    file: "cluster/tests/simulation/engine.rs",
    edits: [["if expected != self.sequence {", "if false && expected != self.sequence {"]],
  },
  {
    name: "a batch is confirmed before the acknowledgement",
    file: "cluster/src/shard/append.rs",
    edits: [
      [
        "    fn begin_changes(&mut self, batch: BatchId, payload: Vec<u8>, env: &mut Env<'_>) {\n",
        `    fn begin_changes(&mut self, batch: BatchId, payload: Vec<u8>, env: &mut Env<'_>) {
        let (cursor, own) = (self.cursor.clone(), Some(batch));
        let early = Output::Apply { shard: self.no, cursor, time: 0, payload: Vec::new(), own };
        env.out.put(early);\n`,
      ],
    ],
  },
  {
    name: "an unknown answer counts as success",
    file: "cluster/src/shard/append.rs",
    edits: [
      [
        "            _ => {}\n        }\n    }\n\n    /// The undecided record is in the log.",
        `            Answer::Failed if !append.is_claim && append.blob.is_none() => {
                let sequence = append.expected + 1;
                self.stored(sequence, at, env);
            }
            _ => {}
        }
    }

    /// The undecided record is in the log.`,
      ],
    ],
  },
  {
    name: "an empty read is the end of a takeover",
    file: "cluster/src/shard/read.rs",
    edits: [
      [
        "        self.caught_up = !is_new;\n",
        `        if !is_new
            && matches!(self.role, Role::Claiming)
            && let Some(append) = self.append.as_ref().filter(|append| append.request.is_none())
        {
            let sequence = append.expected + 1;
            return self.stored(sequence, at, env);
        }
        self.caught_up = !is_new;\n`,
      ],
    ],
  },
  {
    name: "changes are applied ahead of the acknowledgement",
    file: "cluster/src/shard/append.rs",
    edits: [
      [
        "        if payload.len() > MAX_INLINE {\n",
        `        let (cursor, early) = (self.cursor.clone(), payload.clone());
        let output = Output::Apply { shard: self.no, cursor, time: 0, payload: early, own: None };
        env.out.put(output);
        if payload.len() > MAX_INLINE {\n`,
      ],
      [
        "        self.accept(record, sequence, crc, payload, append.batch, env);",
        `        let mut record = record;
        if let Body::Changes(changes) = &mut record.body {
            changes.clear();
        }
        self.accept(record, sequence, crc, payload, append.batch, env);`,
      ],
    ],
  },
  {
    name: "a claim does not raise the epoch",
    file: "cluster/src/shard/append.rs",
    edits: [["self.begin(body, self.cursor.epoch + 1, env);", "self.begin(body, self.cursor.epoch, env);"]],
  },
  {
    name: "a claim is served when it is appended, before it was read",
    file: "cluster/src/shard/append.rs",
    edits: [
      [
        "        self.begin(body, self.cursor.epoch + 1, env);",
        `        self.begin(body, self.cursor.epoch + 1, env);
        self.role = Role::Claimed { mended: false };
        self.proven = env.at();`,
      ],
    ],
  },
  {
    name: "a claim is served before the records before it are applied",
    file: "cluster/src/shard.rs",
    edits: [
      [
        "            && self.unapplied.is_empty()\n        {\n            self.role = Role::Owner",
        "        {\n            self.role = Role::Owner",
      ],
    ],
  },
  {
    name: "a paused owner goes on",
    file: "cluster/src/shard.rs",
    edits: [
      [
        "        match self.role {\n            Role::Owner { .. } => {",
        `        if was_paused {
            self.proven = env.at();
            return;
        }
        match self.role {
            Role::Owner { .. } => {`,
      ],
    ],
  },
  {
    name: "an owner whose log does not answer goes on",
    file: "cluster/src/shard.rs",
    edits: [
      [
        "        match self.role {\n            Role::Owner { .. } => {",
        `        if !was_paused {
            self.proven = env.at();
            return;
        }
        match self.role {
            Role::Owner { .. } => {`,
      ],
    ],
  },
  {
    name: "the chain of CRCs is not checked",
    file: "cluster/src/shard/read.rs",
    edits: [["            && record.previous == self.cursor.crc\n", ""]],
  },
  {
    name: "an undecided append is tried again at a new sequence",
    file: "cluster/src/shard/append.rs",
    edits: [
      [
        "            Answer::Fenced(last) => {\n",
        "            Answer::Fenced(last) => {\n                append.expected = last.unwrap_or(append.expected);\n",
      ],
    ],
  },
  {
    name: "a shard is released while an append is in flight",
    file: "cluster/src/shard.rs",
    edits: [
      [
        "        if self.append.is_none() && self.fetch.is_none() && !self.is_full() {",
        `        let goes = may_release && plan.move_to.is_some();
        if (self.append.is_none() || goes) && self.fetch.is_none() && !self.is_full() {`,
      ],
    ],
  },
  {
    name: "the cursor is saved before the record is applied",
    file: "cluster/tests/simulation/payloads/mod.rs",
    edits: [
      [
        "        unsaved[index].push((change, cursor));\n",
        "        states[index].cursor = cursor.clone();\n        unsaved[index].push((change, cursor));\n",
      ],
    ],
  },
  {
    name: "an owner is told by its name, without its incarnation",
    file: "cluster/src/shard/read.rs",
    edits: [
      [
        "        if self.append.as_ref().is_some_and(|append| append.bytes == entry.bytes) {",
        `        let is_mine = Record::parse(&entry.bytes).is_ok_and(|record| match record.body {
            Body::Claim { owner, .. } => owner.node == env.me.node,
            _ => false,
        });
        let is_claiming = matches!(self.role, Role::Claiming) && is_mine && self.append.is_some();
        if is_claiming || self.append.as_ref().is_some_and(|append| append.bytes == entry.bytes) {`,
      ],
    ],
  },
  {
    name: "a log that lost its tail is not noticed",
    file: "cluster/src/shard/read.rs",
    edits: [["if short.answers >= SHORT_ANSWERS && lasted", "if short.answers == u32::MAX && lasted"]],
  },
  {
    name: "a stale last sequence is a lost tail at once",
    file: "cluster/src/shard/read.rs",
    edits: [
      [
        "if short.answers >= SHORT_ANSWERS && lasted >= env.config.timing.cut_off {",
        "if lasted >= core::time::Duration::ZERO {",
      ],
    ],
  },
  {
    name: "a base is loaded in place of records that were replaced, and nobody is told",
    file: "cluster/src/shard/seek.rs",
    edits: [["Role::Seeking(seek) if self.waits(seek) => self.report(env),", "_ if false => self.report(env),"]],
    test: "payloads::named::",
  },
  {
    name: "the owner of a damaged log makes no base",
    file: "cluster/src/shard.rs",
    edits: [["if self.is_owned() && plan.base_wanted && is_due {", "if false && plan.base_wanted && is_due {"]],
  },
  {
    name: "an owner does not mend a log for a node that has what was lost",
    file: "cluster/src/shard.rs",
    edits: [["        plan.has_lost && self.mended", "        false && plan.has_lost && self.mended"]],
    test: "payloads::named::",
  },
  {
    name: "a node does not notice that others went on from what the log had lost",
    file: "cluster/src/shard/seek.rs",
    edits: [["(is_lost || seek.is_left)", "is_lost"]],
    test: "payloads::named::",
  },
];

// Faults that the simulation of rooms has to notice.
const ROOMS = [
  ...[
    "appends are not fenced",
    "an unknown answer counts as success",
    "an empty read is the end of a takeover",
    "changes are applied ahead of the acknowledgement",
    "a batch is confirmed before the acknowledgement",
    "a claim does not raise the epoch",
    "a log that lost its tail is not noticed",
    "an owner does not mend a log for a node that has what was lost",
  ].map((name) => {
    const { file, edits } = PAYLOADS.find((fault) => fault.name === name);
    return { name, file, edits };
  }),
  {
    name: "a room is told that a change is durable before the acknowledgement",
    file: "cluster/tests/simulation/rooms/place.rs",
    edits: [
      [
        "        self.change(node, change, done);\n    }\n\n    /// Tells a room",
        `        done(Ok(()));
        self.change(node, change, Box::new(|_| ()));
    }

    /// Tells a room`,
      ],
    ],
  },
  {
    name: "a room tells its clients what is not durable",
    file: "session/src/room/log/transactions.rs",
    edits: [["        self.durable.unwrap_or(self.head)\n", "        self.head\n"]],
  },
  {
    name: "a transaction that is sent again is taken again",
    file: "session/src/room/peer/publish.rs",
    edits: [
      ["Some(last) if counter <= last => {", "Some(last) if counter < last => {"],
      ["Some(last) if counter == last.next() => {}", "Some(last) if counter == last || counter == last.next() => {}"],
    ],
  },
  {
    name: "the batch on its way stays when a shard is lost",
    file: "cluster/tests/simulation/rooms/serving.rs",
    edits: [["queue.give_up_batch();", "queue.give_up();"]],
  },
  {
    name: "a mended shard keeps the incarnations of its rooms",
    file: "cluster/tests/simulation/rooms/serving.rs",
    edits: [["let rooms = if mended {", "let rooms = if mended && false {"]],
  },
  {
    name: "a room that is not stored opens without a proof of ownership",
    file: "cluster/tests/simulation/rooms/opening.rs",
    edits: [
      [
        "        let opening = Opening { load, loaded, links: vec![link] };\n",
        `        if loaded.is_none() {
            let made = self.make_room(node, room, None);
            return self.serve(node, room, Open::new(made, load, self.now));
        }
        let opening = Opening { load, loaded, links: vec![link] };\n`,
      ],
    ],
    test: "rooms::named::",
  },
  {
    name: "a node that loads a base does not learn who the owner is",
    file: "cluster/src/shard/seek.rs",
    edits: [["        self.set_owner(cursor.owner.clone(), env);\n", ""]],
    test: "rooms::named::",
  },
  {
    name: "no numbers of participants are reserved when a room is loaded",
    file: "cluster/tests/simulation/rooms/opening.rs",
    edits: [
      [
        "            reserved: loaded.as_ref().map(reserved),\n",
        "            reserved: loaded.as_ref().map(reserved).filter(|_| false),\n",
      ],
    ],
  },
  {
    name: "of two changes that wait, the older facts stay",
    file: "cluster/tests/simulation/rooms/place.rs",
    edits: [["joined.facts = write.facts.or(joined.facts);", "joined.facts = joined.facts.or(write.facts);"]],
  },
  {
    name: "of two changes that wait, the transactions of the newer one are lost",
    file: "cluster/tests/simulation/rooms/place.rs",
    edits: [["            joined.transactions.extend(write.transactions);\n", ""]],
  },
  {
    name: "a power cut takes records back and leaves the cursors",
    file: "cluster/tests/simulation/rooms/disk.rs",
    edits: [
      [
        "            self.journal.truncate(self.saved);\n",
        `            let lost = self.journal[self.saved..].iter_mut();
            lost.for_each(|(_, what)| *what = What::Changes { payload: Vec::new(), time: 0 });\n`,
      ],
    ],
  },
  {
    name: "an answer for a room that has ended reaches the one that was opened after it",
    file: "cluster/tests/simulation/rooms/place.rs",
    edits: [
      [
        "open_room(node, room).filter(|open| open.load == load) else {\n            return;\n        };\n        match outcome {",
        "open_room(node, room) else {\n            return;\n        };\n        match outcome {",
      ],
    ],
  },
  {
    name: "changes are not checked against the store",
    file: "server/src/cluster/queue.rs",
    edits: [["                match outcome {", "                match outcome.or(Ok::<(), Error>(())) {"]],
  },
].map((fault) => ({
  test: "rooms_of_clusters_keep_their_promises",
  ...fault,
  name: `rooms: ${fault.name}`,
}));

const FAULTS = [...PAYLOADS, ...ROOMS];

function main() {
  const words = process.argv.slice(2);
  const faults = FAULTS.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
  copySources();
  const outcomes = faults.map((fault) => ({
    name: fault.name,
    noticed: tryFault(fault),
  }));
  console.log("\n| fault | right seeds before it is noticed | by |\n| --- | --- | --- |");
  for (const { name, noticed } of outcomes) {
    console.log(`| ${name} | ${noticed ? `${noticed.seeds} | ${noticed.by}` : "not noticed |"} |`);
  }
  const missed = outcomes.filter(({ noticed }) => !noticed);
  console.log(`\n${outcomes.length - missed.length} of ${outcomes.length} faults are noticed`);
  process.exitCode = missed.length > 0 ? 1 : 0;
}

/** Copies the sources that differ from those of the last run. */
function copySources() {
  const paths = execFileSync("git", ["ls-files"], {
    cwd: root,
    encoding: "utf8",
  })
    .trim()
    .split("\n");
  for (const path of paths) {
    const [from, to] = [join(root, path), join(copy, path)];
    if (!/^(Cargo|clippy|crates\/|lab\/)/.test(path) || !existsSync(from)) continue;
    const bytes = readFileSync(from);
    if (existsSync(to) && bytes.equals(readFileSync(to))) continue;
    mkdirSync(dirname(to), { recursive: true });
    writeFileSync(to, bytes);
  }
}

/** Runs the simulation with the fault: how many seeds were right, and what it said then. */
function tryFault({ name, file, edits, test = "clusters_keep_their_promises" }) {
  const path = join(copy, "crates", file);
  const source = readFileSync(path, "utf8");
  let broken = source;
  for (const [from, to] of edits) {
    if (broken.split(from).length !== 2) throw new Error(`${name}: the text is not in ${file} exactly once: ${from}`);
    broken = broken.replace(from, () => to);
  }
  writeFileSync(path, broken);
  try {
    const build = cargo("--no-run");
    if (build.status !== 0) throw new Error(`${name}: does not compile:\n${build.stderr}`);
    const { stdout, stderr } = cargo("--", ...(test.endsWith("::") ? [] : ["--exact"]), test);
    const output = stdout + stderr;
    const seeds = output.match(/; (\d+) seeds were right before/)?.[1];
    const by = output
      .match(/panicked at .*\n(.*)/)?.[1]
      .slice(0, 100)
      .replaceAll("|", "/");
    const noticed = by && { seeds: seeds ?? test, by };
    console.log(noticed ? `noticed after ${noticed.seeds} seeds: ${name}` : `NOT NOTICED: ${name}`);
    return noticed;
  } finally {
    writeFileSync(path, source);
  }
}

function cargo(...options) {
  return spawnSync("cargo", ["test", "--quiet", "--package", "groupwire-cluster", "--test", "simulation", ...options], {
    cwd: copy,
    encoding: "utf8",
    maxBuffer: 1 << 28,
    timeout: 900_000,
    env: { ...process.env, CARGO_TARGET_DIR: built, RUST_BACKTRACE: "0" },
  });
}

main();
