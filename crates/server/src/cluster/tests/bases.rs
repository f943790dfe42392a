//! Logs of shards after bases.

use std::time::Duration;

use groupwire_store::{Append, Record, Stores, wait};
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

use super::{MemoryEngine, Node};

const ROOM: &str = "demo";

fn stores(node: &Node) -> Stores {
    node.services.rooms.context().durable.as_ref().unwrap().stores.clone()
}

/// Appends a record of this length to the room.
async fn append(node: &Node, position: u64, length: usize) {
    let stored = stores(node);
    let bytes = vec![7; length];
    let record = Record { position, channel: 1, author: 5, recipient: 0, counter: 1, bytes };
    let append = Append {
        room: ROOM.to_owned(),
        incarnation: 9,
        records: vec![record],
        meta: (position == 1).then(Vec::new),
        ..Append::default()
    };
    let appending = spawn_blocking(move || wait(|done| stored.log.append(append, done)));
    appending.await.unwrap().unwrap();
}

async fn until(what: &str, is_so: impl Fn() -> bool) {
    let waiting = async {
        while !is_so() {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(Duration::from_secs(60), waiting).await.unwrap_or_else(|_| panic!("{what}"));
}

#[tokio::test]
async fn blobs_before_a_base_are_deleted_and_a_new_server_needs_none() {
    for refuses_trims in [false, true] {
        let engine = MemoryEngine::new(1);
        engine.with(|state| state.refuses_trims = refuses_trims);
        let node = Node::new("a", &engine).await;
        until("it has the room", || node.has(ROOM)).await;
        let blobs = || engine.with(|state| state.blobs.keys().cloned().collect::<Vec<_>>());
        append(&node, 1, 600 << 10).await;
        append(&node, 2, 600 << 10).await;
        let large = blobs();
        assert_eq!(large.len(), 2, "{large:?}");
        // A blob whose record lost a race.
        let lost = format!("0000.{:020}.1-00000000", 2);
        let of_other = format!("0001.{:020}.1-00000000", 2);
        engine.with(|state| {
            for name in [&lost, &of_other] {
                state.blobs.insert(name.clone(), Default::default());
            }
        });
        let mut position = 3;
        let is_left = |name: &String| blobs().contains(name);
        while is_left(&lost) || large.iter().any(is_left) {
            assert!(position < 300, "{:?}", blobs());
            append(&node, position, 100).await;
            position += 1;
            sleep(Duration::from_millis(5)).await;
        }
        // The blobs of the last two bases stay, with that of another shard.
        assert!(position > 60 && is_left(&of_other) && blobs().len() >= 3, "{:?}", blobs());
        let is_trimmed = engine.with(|state| state.logs[&0][0].sequence > 1);
        assert_eq!(is_trimmed, !refuses_trims);
        // Without its trim the log still begins with records whose blobs are gone.
        let other = Node::new("b", &engine).await;
        let stored = stores(&other);
        let count = || stored.log.load(ROOM).ok().flatten().map(|room| room.records.len() as u64);
        until("the new server has all records", || count() == Some(position - 1)).await;
    }
}
