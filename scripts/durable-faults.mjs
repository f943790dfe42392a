// The faults of durable-mutations.mjs, each of which breaks the promise of stored rooms, or a part
// of it.
//
// `file` is below crates/; `from` is replaced by `to`; `tests` are Cargo's options that choose the
// tests that have to fail.

const STORE = ["--package", "groupwire-store", "--test", "all"];
const SESSION = ["--package", "groupwire-session", "--test", "all"];
const SESSION_ITSELF = ["--package", "groupwire-session", "--lib"];
const SERVER = ["--package", "groupwire-server", "--lib"];
const COMMAND = ["--package", "groupwire-cli", "--test", "all"];

const inStore = (fault) => ({
  ...fault,
  file: `store/src/${fault.file}`,
  tests: typeof fault.tests === "string" ? [...STORE, fault.tests] : fault.tests,
});
const inSession = (fault) => ({
  ...fault,
  file: `session/src/${fault.file}`,
  tests: Array.isArray(fault.tests) ? fault.tests : [...SESSION, fault.tests ?? "durable::"],
});
const inServer = (fault) => ({
  ...fault,
  file: `server/src/${fault.file}`,
  tests: fault.tests ?? [...COMMAND, "durable::"],
});

/**
 * Faults in the store, which promises that answered changes are on the disk, whole, and that
 * deleted data is gone.
 */
const OF_THE_STORE = [
  {
    name: "events are not stored with what they tell of",
    file: "batch.rs",
    from: "outbox::insert(db, *event, &append.room, time, &append.events)?;",
    to: "",
    tests: "outbox::",
  },
  {
    name: "the cursor of events is not stored",
    file: "outbox.rs",
    from: "    put_state(db, &told)?;\n",
    to: "",
    tests: "outbox::",
  },
  {
    name: "events of a deleted room stay",
    file: "change.rs",
    from: "if has_events { outbox::erase_room(db, name) } else { Ok(()) }",
    to: "Ok(())",
    tests: "outbox::",
  },
  {
    name: "commits are not synced",
    file: "schema.rs",
    from: 'connection.pragma_update(None, "synchronous", "FULL")?;\n    // Checkpoints',
    to: 'connection.pragma_update(None, "synchronous", "OFF")?;\n    // Checkpoints',
    tests: "crashes::",
  },
  {
    name: "commits are not synced, on a real file system",
    file: "schema.rs",
    from: 'connection.pragma_update(None, "synchronous", "FULL")?;\n    // Checkpoints',
    to: 'connection.pragma_update(None, "synchronous", "OFF")?;\n    // Checkpoints',
    tests: [...COMMAND, "durable::power_cuts"],
  },
  {
    name: "checksums are not compared",
    file: "rows.rs",
    from: "i64::from(self.header.crc(hash(self.bytes))) == self.crc",
    to: "true",
    tests: "damage::",
  },
  {
    name: "the part is valid before its pieces are written",
    file: "saving.rs",
    from: "if saving.written < bytes.len() {",
    to: "if saving.written == 0 && !bytes.is_empty() {\n            let row = part_row(1, saving.id, &saving.save.part, 0);\n            let _ = self.transaction(|db| row.insert(db));\n        }\n        if saving.written < bytes.len() {",
    tests: "crashes::",
  },
  {
    name: "records are trimmed once the newest part covers them",
    file: "history.rs",
    from: "        .filter(|part| now.saturating_sub(part.taken) >= history)\n",
    to: "",
    tests: "basics::",
  },
  {
    name: "answers come before the commit",
    file: "batch.rs",
    from: "let batch = self.plan(batch);\n",
    to: "let mut batch = self.plan(batch);\n        for one in &mut batch.accepted {\n            std::mem::replace(&mut one.answer, Answer::new(Box::new(|_| ()))).send(Ok(()));\n        }\n",
    tests: "crashes::",
  },
  {
    name: "a failed sync does not poison",
    file: "writer.rs",
    from: "Err(error) if kind(&error) == Kind::Full && self.roll_back() => {",
    to: "Err(_) if self.roll_back() => {",
    tests: "crashes::a_sync",
  },
  {
    name: "deleted content is not overwritten",
    file: "schema.rs",
    from: '"secure_delete", "ON"',
    to: '"secure_delete", "OFF"',
    tests: "erasure::",
  },
  {
    name: "gaps of pages are not cleared",
    file: "gap.rs",
    from: "    let gap = find(page)?;\n",
    to: "    let gap = find(&page[..0])?;\n",
    tests: "erasure::",
  },
  {
    name: "pages with gaps stay in the cache",
    file: "sweep.rs",
    from: "PRAGMA shrink_memory",
    to: "",
    tests: "erasure::",
  },
  {
    name: "the write-ahead log is not truncated",
    file: "sweep.rs",
    from: 'self.checkpoint("TRUNCATE")',
    to: 'self.checkpoint("PASSIVE")',
    tests: "erasure::",
  },
  {
    name: "orphans are not erased at the start",
    file: "scan.rs",
    from: "None => self.state.garbage.add_row(row.id, entry.cost()),",
    to: "None => {}",
    tests: "erasure::",
  },
  {
    name: "free pages are kept",
    file: "compact.rs",
    from: "if free > live / 4 + slack / 4 {",
    to: "if free > u64::MAX / 2 {",
    tests: "erasure::",
  },
  {
    name: "the structure is not checked",
    file: "scan.rs",
    from: 'if found == "ok" {',
    to: 'if found == "ok" || !found.is_empty() {',
    tests: "damage::",
  },
  {
    name: "positions are not compared",
    file: "plan.rs",
    from: "if record.position != expected {",
    to: "if record.position == 0 && expected == 0 {",
    tests: "basics::",
  },
];

/**
 * Faults in the room, which tells nobody of a transaction before it is durable, and is the stored
 * one when it is loaded.
 */
const OF_THE_ROOM = [
  {
    name: "nobody is told who left",
    file: "room/mod.rs",
    from: "        log.append_departure(id, *now);\n        accounting",
    to: "        accounting",
    tests: ["--package", "groupwire-session", "--test", "laws", "clients_that_begin_plain"],
  },
  {
    name: "a client ignores who left",
    file: "client/delivery.rs",
    from: "return self.inbound.held.add(session, (position, counter), Some(incoming));\n        }",
    to: `return self.inbound.held.add(session, (position, counter), Some(incoming));
        }
        if incoming.departed.is_some() {
            return Ok(());
        }`,
    tests: ["--package", "groupwire-session", "--test", "laws", "clients_that_begin_plain"],
  },
  {
    name: "a loaded room forgets of whom to say that they left",
    file: "room/mod.rs",
    from: "log.authors_to_depart().chain(log.directs.receivers())",
    to: "log.directs.receivers()",
    tests: "departures::",
  },
  {
    name: "the facts do not say of whom to say that they left",
    file: "room/log/facts.rs",
    from: "let departures = self.departures.stored();",
    to: "let departures = Vec::new();",
    tests: "departures::",
  },
  {
    name: "a loaded room says again who left",
    file: "room/log/facts.rs",
    from: "Some(departed) => log.departures.written(departed, channel),",
    to: "Some(_) => {}",
    tests: "departures::",
  },
  {
    name: "the gate is open",
    file: "room/log/transactions.rs",
    from: "self.durable.unwrap_or(self.head)",
    to: "self.head",
  },
  {
    name: "everything is durable once something is",
    file: "room/storage/storing.rs",
    from: "position.min(self.handed)",
    to: "self.handed.max(position)",
  },
  {
    name: "WELCOME tells of what is not durable",
    file: "room/admission.rs",
    from: "position: log.durable(),",
    to: "position: log.head(),",
    tests: "wire_rules::stored",
  },
  {
    name: "who claims what is not durable is believed",
    file: "room/admission.rs",
    from: "resume.position > log.durable()",
    to: "resume.position > log.head()",
    tests: "wire_rules::stored",
  },
  {
    name: "observers do not wait",
    file: "room/administration/ordered.rs",
    from: "self.ordered(position, self.common.log.durable())",
    to: "self.ordered(position, Position(self.common.log.durable().get() + 9))",
  },
  {
    name: "recordings do not wait",
    file: "room/inspection/facts.rs",
    from: "let durable = self.common.log.durable();\n        self.common.accounting.inspector.recorded(durable)",
    to: "let durable = self.common.log.head();\n        self.common.accounting.inspector.recorded(durable)",
  },
  {
    name: "the inspector does not wait",
    file: "room/inspection/facts.rs",
    from: "let durable = self.common.log.durable();\n        self.common.accounting.inspector.trace.take(durable)",
    to: "let durable = self.common.log.head();\n        self.common.accounting.inspector.trace.take(durable)",
  },
  {
    name: "a snapshot of what is not durable is taken",
    file: "room/peer/snapshot.rs",
    from: "chunk.as_of > log.durable()",
    to: "chunk.as_of > log.head()",
    tests: "wire_rules::stored",
  },
  {
    name: "the store is handed less than the room says",
    file: "room/storage/storing.rs",
    from: "        self.handed = log.head();\n        for reset",
    to: "        write.transactions.pop();\n        self.handed = log.head();\n        for reset",
  },
  {
    name: "new channels are not stored",
    file: "room/storage/storing.rs",
    from: "self.is_changed |= self.channels.insert(transaction.message.channel);",
    to: "self.channels.insert(transaction.message.channel);",
  },
  {
    name: "a changed QoS is not stored",
    file: "room/storage/storing.rs",
    from: "self.is_changed |= self.channels.contains(&channel);",
    to: "let _ = channel;",
  },
  {
    name: "counters do not travel with a snapshot",
    file: "room/storage/storing.rs",
    from: "            // The store deletes transactions that the part covers, so the facts have to contain\n            // their counters.\n            self.is_changed = true;\n",
    to: "",
  },
  {
    name: "a snapshot is stored without the counters of its transactions",
    file: "room/log/mod.rs",
    from: "let mut counters = self.transactions.counters_at(channels, as_of);",
    to: "let mut counters = alloc::collections::BTreeMap::<ParticipantId, Counter>::new();",
  },
  {
    name: "numbers of participants are given out before they are reserved",
    file: "room/storage/storing.rs",
    from: "!is_stored || participant <= limit",
    to: "!is_stored || participant <= limit.max(participant)",
  },
  {
    name: "numbers of participants are given out again",
    file: "room/log/facts.rs",
    from: "Sessions::stored(last_participant, forgotten, former)",
    to: "Sessions::stored(former.iter().map(|one| one.participant).max().unwrap_or(last_participant), forgotten, former)",
  },
  {
    name: "sessions of another incarnation are resumed",
    file: "room/admission.rs",
    from: "hello.resume.filter(|resume| resume.incarnation == log.incarnation())",
    to: "hello.resume",
    tests: "wire_rules::w12_outcomes",
  },
  {
    name: "secrets are not bound to the incarnation",
    file: "room/admission.rs",
    from: "(self.config.name.as_str(), self.log.incarnation())",
    to: "(self.config.name.as_str(), 7)",
    tests: "durable::w13",
  },
  {
    name: "counters of stored transactions are not read",
    file: "room/log/facts.rs",
    from: "            known.0 = known.0.max(counter);\n",
    to: "            known.0 = known.0.max(Counter(0));\n",
  },
  {
    name: "a room with transactions beyond its last one is loaded",
    file: "room/log/facts.rs",
    from: "            if position <= last || position > head {",
    to: "            if position <= last {",
  },
  {
    name: "a stored room drops what no snapshot covers",
    file: "room/log/transactions.rs",
    from: "            self.volatile_bytes += cost;\n            return;",
    to: "            self.volatile_bytes += cost;",
  },
  {
    name: "a room takes transactions without end while its store takes none",
    file: "room/log/mod.rs",
    from: "if self.transactions.volatile_bytes() > max_volatile_bytes",
    to: "if self.transactions.volatile_bytes() > max_volatile_bytes && max_volatile_bytes == 0",
  },
  {
    name: "ignored transactions are not asked for again",
    file: "room/storage/durable.rs",
    from: 'peer.fail(now, Error::NotNow { what: "the store was full" }, common);',
    to: 'let _ = (now, &peer, Error::NotNow { what: "" }, &common);',
  },
  {
    name: "pieces of a transaction go into the log one by one",
    file: "room/peer/publish.rs",
    from: "if begun.is_none() && message.piece == Piece::Whole {",
    to: "if begun.is_none() {",
    tests: "w97",
  },
  {
    name: "pieces outlive their transport",
    file: "room/peer/mod.rs",
    from: "        self.state = State::Away { since: now };\n        common.intake.end_transport(self.id);\n",
    to: "        self.state = State::Away { since: now };\n        common.intake.has_new_subscriptions = true;\n",
    tests: "w97",
  },
  {
    name: "an own transaction is confirmed by its first piece",
    file: "client/pending.rs",
    from: "        if !piece.goes_on() {\n            self.take_ordered(Some",
    to: "        if piece.begins() || !piece.goes_on() {\n            self.take_ordered(Some",
    tests: "w97",
  },
  {
    name: "pieces are put together although one is missing",
    file: "client/pieces.rs",
    from: "Some(begun) if position == begun.last.next() =>",
    to: "Some(begun) if position > begun.last =>",
    tests: [...SESSION_ITSELF, "w97"],
  },
  {
    name: "pieces of a damaged transaction are loaded",
    file: "room/log/facts.rs",
    from: "        if !follows {\n            begun",
    to: "        if begun.is_empty() && !follows {\n            begun",
    tests: "w97",
  },
  {
    name: "a part may end within a transaction",
    file: "room/log/mod.rs",
    from: "                && one.message.piece.goes_on()\n                && channels",
    to: "                && one.message.piece.goes_on()\n                && channels.is_empty()\n                && channels",
    tests: "w97",
  },
  {
    name: "an own transaction of which some pieces were ordered is forgotten with the session",
    file: "client/pieces.rs",
    from: "        self.begun = ordered.first()",
    to: "        let _ = ordered.first()",
    tests: [...SESSION_ITSELF, "w97"],
  },
  {
    name: "the log is trimmed within a transaction",
    file: "room/log/transactions.rs",
    from: "        if self.window.get(at).is_none_or(|one| one.message.piece.begins()) {\n            return first;\n        }",
    to: "        if at < usize::MAX {\n            return first;\n        }",
    tests: [...SESSION_ITSELF, "w97"],
  },
];

/**
 * Faults in the server between both, which keeps the order, forgets nothing, and ends when the
 * store fails.
 */
const OF_THE_SERVER = [
  {
    name: "the server does not wait for the store's answer",
    file: "rooms/store.rs",
    from: "log.append(Append { room, incarnation, records, meta, reserved, events }, done);",
    to: "done(Ok(()));\n        log.append(Append { room, incarnation, records, meta, reserved, events }, Box::new(|_| ()));",
  },
  {
    name: "a refused change is forgotten",
    file: "rooms/store.rs",
    from: "            Err(Error::NotNow(why)) => {\n",
    to: "            Err(Error::NotNow(why)) => {\n                self.waiting.pop_front();\n",
  },
  {
    name: "a refused change is not tried again",
    file: "rooms/store.rs",
    from: "tell(StoreNews::Again);",
    to: "let _ = (tell, StoreNews::Again);",
  },
  {
    name: "the server goes on after the store failed",
    file: "rooms/store.rs",
    from: "self.durable.fail(why.clone());",
    to: "let _ = why;",
  },
  {
    name: "a loaded room reserves no numbers of participants",
    file: "rooms/store.rs",
    from: "let reserved = match wait(|done| durable.stores.log.append(append, done)) {",
    to: "drop(append);\n    let reserved = match Ok::<(), Error>(()) {",
  },
  {
    name: "a room that lost transactions keeps its incarnation",
    file: "rooms/store.rs",
    from: "false => random_number(),",
    to: "false => loaded.incarnation,",
  },
  {
    name: "older facts replace newer ones",
    file: "rooms/store.rs",
    from: "joined.write.facts = write.facts.or(joined.write.facts);",
    to: "joined.write.facts = joined.write.facts.or(write.facts);",
  },
  {
    name: "the webhook's events are stored after what they tell of",
    file: "rooms/store.rs",
    from: "log.append(Append { room, incarnation, records, meta, reserved, events }, done);",
    to: `drop::<Vec<Vec<u8>>>(events);
        let later = self.waiting.front().map(|change| change.events.clone()).unwrap_or_default();
        let (queue, name, events) = (self.webhook.clone(), room.clone(), Vec::new());
        let done = Box::new(move |answer: Result<(), Error>| {
            if let (Some(queue), Ok(())) = (queue, &answer) {
                queue.put(&name, later);
            }
            done(answer);
        });
        log.append(Append { room, incarnation, records, meta, reserved, events }, done);`,
  },
  ...["room.as_bytes()", "&incarnation.to_le_bytes()", "&participant.get().to_le_bytes()", "identity"].map((field) => ({
    name: `secrets do not depend on ${field.match(/[a-z]+/)[0]}`,
    file: "durable/secrets.rs",
    from: `    mac.update(${field});\n`,
    to: "    let _ = (room, incarnation, participant, identity);\n",
    tests: [...SERVER, "durable::secrets"],
  })),
  {
    name: "the key before the newest is not accepted",
    file: "durable/secrets.rs",
    from: "keys.accepted(now).any(",
    to: "keys.accepted(now).take(1).any(",
  },
];

export const FAULTS = [...OF_THE_STORE.map(inStore), ...OF_THE_ROOM.map(inSession), ...OF_THE_SERVER.map(inServer)];
