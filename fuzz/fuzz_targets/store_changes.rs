//! Any bytes as the changes of a record of a shared log: they are refused or have one form, and a
//! cache takes the changes that it accepted when it checked them.

#![no_main]

use groupwire_store::{
    Change, Cursor, MemoryStore, Options, OutboxLimits, Replica, parse_changes, wait, write_changes,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let limits = OutboxLimits { max_bytes: 1 << 20, max_age: std::time::Duration::from_secs(60) };
    let cache = MemoryStore::new(Options { outbox: Some(limits), ..Options::default() });
    let mut rest = data;
    // Each record has its length before it.
    for number in 1.. {
        let Some((&[high, low], after)) = rest.split_first_chunk() else { break };
        let length = usize::from(u16::from_be_bytes([high, low]));
        let (bytes, after) = after.split_at(length.min(after.len()));
        rest = after;
        let changes = parse_changes(bytes).unwrap_or_default();
        if !changes.is_empty() {
            assert_eq!(write_changes(&changes), bytes);
        }
        let outcomes = cache.check(&changes);
        let is_of_shard =
            |change: &Change| !matches!(change, Change::EventsTold { shard, .. } if *shard != 0);
        let accepted = changes.into_iter().zip(outcomes).filter(|(_, outcome)| outcome.is_ok());
        let accepted = accepted.map(|(change, _)| change).filter(is_of_shard).collect();
        let cursor = Cursor { number, ..Cursor::default() };
        wait(|done| cache.apply(cursor, number, accepted, done))
            .expect("the changes were accepted");
    }
});
