//! Disks that take no more, fail, or cannot be written: what clients see, and what the operator is
//! told.

use std::time::Duration;

use tokio::time::sleep;

use super::disk::LoopDisk;
use super::operator::store;
use super::server::Server;
use super::visitor::Visitor;

/// Joins two people. The first one sends more than the store takes. Returns both once the server
/// has logged the refusal, with the number of log lines. `fill` is called when the first line is
/// confirmed: a room of which nothing is stored begins anew with the server.
async fn say_too_much(server: &Server, fill: impl Fn()) -> (Visitor, Visitor, usize) {
    let mut ada = Visitor::join(&server.url(), "full").await;
    let mut bo = Visitor::join(&server.url(), "full").await;
    let mut said = 0;
    while !server.log().contains("takes no transactions") {
        said += 1;
        // An awareness value after each line keeps the lines apart, so that some are stored and the
        // others are not.
        ada.say(&format!("{said} {}", "x".repeat(50_000)));
        ada.hint();
        bo.until(|bo| bo.hinted >= said).await;
        if said == 1 {
            ada.hear(1).await;
            bo.hear(1).await;
            fill();
        }
        assert!(said < 200, "the store takes everything: {}", server.log());
    }
    // Awareness still passes, and comes after whatever was sent before it.
    ada.hint();
    bo.until(|bo| bo.hinted > said).await;
    bo.hint();
    ada.until(|ada| ada.hinted > 0).await;
    (ada, bo, said)
}

/// Checks that clients received exactly the transactions that are stored.
fn nobody_knows_more_than_the_store(server: &Server, ada: &Visitor, bo: &Visitor, said: usize) {
    let stored = server.stored();
    assert!(ada.own <= stored && bo.told.len() <= stored, "{} of {stored}", bo.told.len());
    assert!(stored < said, "all of it was stored");
}

async fn everything_comes(ada: &mut Visitor, bo: &mut Visitor, said: usize) {
    for one in [&mut *ada, bo] {
        let lines = one.hear(said).await;
        let number = |line: &&str| -> usize { line.split_once(' ').unwrap().0.parse().unwrap() };
        let numbers = lines.iter().map(number);
        assert!(numbers.eq(1..=said), "in order, once");
        assert_eq!(one.gaps, 0);
    }
    assert_eq!(ada.own, said);
}

#[tokio::test]
async fn at_the_quota_transactions_wait_until_there_is_more_and_nobody_sees_them() {
    let mut server = Server::start("quota");
    server.kill();
    server.options = vec!["--max-data", "1"];
    server.restart();
    let (mut ada, mut bo, said) = say_too_much(&server, || ()).await;
    assert!(server.log().contains("delete rooms or raise the quota"), "{}", server.log());
    nobody_knows_more_than_the_store(&server, &ada, &bo, said);
    server.kill();
    server.options = vec!["--max-data", "100"];
    server.restart();
    everything_comes(&mut ada, &mut bo, said).await;
}

#[tokio::test]
async fn a_full_disk_heals_by_itself() {
    let Some(disk) = LoopDisk::new("full", 24) else { return };
    let mut server = Server::start_in("full", disk.path.join("rooms"));
    let (mut ada, mut bo, said) = say_too_much(&server, || disk.fill()).await;
    assert!(server.log().contains("free some, and the server goes on by itself"));
    nobody_knows_more_than_the_store(&server, &ada, &bo, said);
    let folder = server.folder.to_str().unwrap();
    let file = disk.path.join("rooms.export");
    let (is_fine, why) = store(&["export", folder, file.to_str().unwrap()]);
    assert!(!is_fine && why.contains("no space is left on the disk"), "{why}");
    // Changes of the room that wait for space, one after the other.
    for (channel, hinted) in ["second", "third"].into_iter().zip(1..) {
        ada.say_on(channel, "a line");
        ada.hint();
        let before = said + hinted;
        bo.until(|bo| bo.hinted > before).await;
    }
    disk.free();
    everything_comes(&mut ada, &mut bo, said).await;
    while server.stored() < said + 2 {
        sleep(Duration::from_millis(10)).await;
    }
    server.kill();
    server.restart();
    let mut late = Visitor::join(&server.url(), "full").await;
    late.hear(said).await;
}

#[tokio::test]
async fn after_a_restart_on_a_full_disk_people_come_back_and_read() {
    let Some(disk) = LoopDisk::new("full-restart", 24) else { return };
    let mut server = Server::start_in("full-restart", disk.path.join("rooms"));
    let (mut ada, mut bo, said) = say_too_much(&server, || disk.fill()).await;
    server.kill();
    server.restart();
    ada.come_back().await;
    bo.come_back().await;
    let before = bo.hinted;
    ada.hint();
    bo.until(|bo| bo.hinted > before).await;
    nobody_knows_more_than_the_store(&server, &ada, &bo, said);
    disk.free();
    everything_comes(&mut ada, &mut bo, said).await;
    Visitor::join(&server.url(), "full").await.hear(said).await;
}

#[tokio::test]
async fn a_server_that_cannot_begin_on_a_full_disk_says_so() {
    let Some(disk) = LoopDisk::new("full-start", 24) else { return };
    let mut server = Server::start_in("full-start", disk.path.join("rooms"));
    server.kill();
    std::fs::remove_dir_all(&server.folder).unwrap();
    disk.fill();
    let advice = "no space is left on the disk; free some, and start it again";
    assert!(server.refused().contains(advice), "{}", server.log());
    disk.free();
    server.restart();
}

#[tokio::test]
async fn a_disk_that_fails_ends_the_server_and_what_was_confirmed_is_there_afterwards() {
    let Some(disk) = LoopDisk::new("failing", 24) else { return };
    let mut server = Server::start_in("failing", disk.path.join("rooms"));
    let mut ada = Visitor::join(&server.url(), "board").await;
    ada.say("before");
    ada.hear(1).await;
    disk.cut();
    ada.say("while it fails");
    ada.until(|ada| ada.is_away()).await;
    assert_eq!(server.wait(), Some(1));
    let log = server.log();
    assert!(log.contains("the store failed, so that nothing is confirmed any more"), "{log}");
    assert!(log.contains("start the server again: it recovers what was confirmed"), "{log}");
    assert_eq!(ada.own, 1, "a false confirmation");
    let log = server.refused();
    assert!(log.contains(server.folder.to_str().unwrap()), "{log}");
    disk.unmount();
    disk.mount("loop");
    server.restart();
    assert_eq!(ada.hear(2).await, ["before", "while it fails"]);
    assert_eq!((ada.own, ada.gaps), (2, 0));
}

#[tokio::test]
async fn a_read_only_disk_is_named() {
    let Some(disk) = LoopDisk::new("read-only", 24) else { return };
    let mut server = Server::start_in("read-only", disk.path.join("rooms"));
    server.kill();
    let folder = server.folder.to_str().unwrap().to_owned();
    // Afterwards there is no write-ahead log any more.
    assert!(store(&["list", &folder]).0);
    disk.mount("remount,ro");
    let advice = "make it writable for this user, and look whether the disk was mounted read-only";
    assert!(server.refused().contains(advice), "{}", server.log());
    for command in ["check", "list", "repair", "rotate-key"] {
        let (is_fine, why) = store(&[command, &folder]);
        assert!(!is_fine && why.contains(advice), "{command}: {why}");
    }
    disk.mount("remount,rw");
    server.restart();
}
