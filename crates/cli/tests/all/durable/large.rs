//! Large parts of a snapshot in a stored room.

use groupwire_client::{Event, Options, Qos, Room, SendOptions};
use tokio::time::timeout;

use super::server::Server;
use super::visitor::FOREVER;

/// The size of the part: far more than a room that is not stored accepts.
const SIZE: usize = 20 << 20;

/// Bytes that no codec makes smaller.
fn state() -> Vec<u8> {
    let mut noise = 1u32;
    let bytes = std::iter::repeat_with(|| {
        noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (noise >> 24) as u8
    });
    bytes.take(SIZE).collect()
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
    let state = state();
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
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
    };
    timeout(FOREVER, stored).await.expect("the part is stored");
    assert!(part(&server).await == state);
    server.kill();
    server.restart();
    assert!(part(&server).await == state, "after a restart");
}
