//! Large parts of a snapshot, and large transactions, in a stored room.

use std::time::Duration;

use groupwire_client::{Event, Events, Options, Qos, Room, SendOptions};
use groupwire_server::session::limits::MAX_TRANSACTION;
use tokio::time::{sleep, timeout};

use super::server::Server;
use super::visitor::FOREVER;

/// The size of the part: far more than a room that is not stored accepts.
const SIZE: usize = 20 << 20;

/// Bytes that no codec makes smaller.
fn noise(seed: u32, size: usize) -> Vec<u8> {
    let mut noise = seed;
    let bytes = std::iter::repeat_with(|| {
        noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (noise >> 24) as u8
    });
    bytes.take(size).collect()
}

/// Joins the room and waits for its part.
async fn part(server: &Server) -> Vec<u8> {
    let (room, mut events) = Room::connect(&server.url(), Options::new("large")).unwrap();
    let _lines = room.channel("lines", Qos::transaction()).unwrap();
    let arrived = async {
        loop {
            if let Event::Snapshot { part, bytes, .. } = events.next().await.unwrap() {
                assert_eq!(part, "everything");
                return bytes;
            }
        }
    };
    timeout(FOREVER, arrived).await.expect("the part")
}

#[tokio::test]
async fn a_part_of_20_mib_is_stored_and_comes_back() {
    let mut server = Server::start("large-part");
    let (room, mut events) = Room::connect(&server.url(), Options::new("large")).unwrap();
    let lines = room.channel("lines", Qos::transaction()).unwrap();
    room.provide("everything", &[&lines]).unwrap();
    for _ in 0..6 {
        lines.send(&*"x".repeat(50_000), SendOptions::default()).unwrap();
    }
    let state = noise(1, SIZE);
    let wanted = async {
        loop {
            if let Event::SnapshotWanted { part, as_of } = events.next().await.unwrap() {
                return room.snapshot(&part, as_of, &state).unwrap();
            }
        }
    };
    timeout(FOREVER, wanted).await.expect("the wish for a part");
    let is_stored = || groupwire_server::store::check(&server.folder).unwrap().parts > 0;
    let stored = async {
        while !is_stored() {
            sleep(Duration::from_millis(100)).await;
        }
    };
    timeout(FOREVER, stored).await.expect("the part is stored");
    assert!(part(&server).await == state);
    server.kill();
    server.restart();
    assert!(part(&server).await == state, "after a restart");
}

/// Waits for this many messages, and returns their contents.
async fn messages(events: &mut Events, count: usize) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    let arrived = async {
        while all.len() < count {
            match events.next().await.unwrap() {
                Event::Message(message) => all.push(message.bytes),
                Event::Error { error, .. } => panic!("{error}"),
                Event::Gap { reason, .. } => assert!(all.is_empty(), "gap: {reason:?}"),
                _ => {}
            }
        }
    };
    timeout(FOREVER, arrived).await.unwrap_or_else(|_| panic!("{} came", all.len()));
    all
}

#[tokio::test]
async fn a_transaction_of_16_mib_is_confirmed_and_outlives_the_server() {
    let mut server = Server::start("large-transaction");
    let (room, mut events) = Room::connect(&server.url(), Options::new("large")).unwrap();
    let lines = room.channel("lines", Qos::transaction()).unwrap();
    let bytes = noise(7, MAX_TRANSACTION);
    lines.send(&*bytes, SendOptions::default()).unwrap();
    lines.send("next", SendOptions::default()).unwrap();
    let own = messages(&mut events, 2).await;
    assert!(own[0] == bytes && own[1] == b"next");
    server.kill();
    server.restart();
    let (late, mut events) = Room::connect(&server.url(), Options::new("large")).unwrap();
    let _lines = late.channel("lines", Qos::transaction()).unwrap();
    let all = messages(&mut events, 2).await;
    assert!(all[0] == bytes && all[1] == b"next");
}

#[tokio::test]
async fn whenever_the_server_is_killed_a_large_transaction_is_there_whole_and_once() {
    const COUNT: usize = 8;
    let mut server = Server::start("large-killed");
    let (ann, mut of_ann) = Room::connect(&server.url(), Options::new("large")).unwrap();
    let (bob, mut of_bob) = Room::connect(&server.url(), Options::new("large")).unwrap();
    let lines = ann.channel("lines", Qos::transaction()).unwrap();
    let _lines = bob.channel("lines", Qos::transaction()).unwrap();
    let sent: Vec<Vec<u8>> = (0..COUNT).map(|nth| noise(nth as u32, 2 << 20)).collect();
    // The first one creates the room, which then has its incarnation for good.
    lines.send(&*sent[0], SendOptions::default()).unwrap();
    let (mut own, mut heard) = (messages(&mut of_ann, 1).await, messages(&mut of_bob, 1).await);
    for one in &sent[1..] {
        lines.send(&**one, SendOptions::default()).unwrap();
    }
    for kill in 0..10 {
        sleep(Duration::from_millis(20 + kill * 23 % 100)).await;
        server.kill();
        server.restart();
    }
    // Both clients read at the same time: one whose application takes no events for some seconds
    // would find the server silent.
    let rest = COUNT - 1;
    let (of_ann, of_bob) = tokio::join!(messages(&mut of_ann, rest), messages(&mut of_bob, rest));
    own.extend(of_ann);
    heard.extend(of_bob);
    assert!(own == sent, "in the order in which they were sent");
    assert!(heard == sent, "the same for everybody");
    assert_eq!(ann.pending(), 0);
}
