//! Disks that are full: of a server, and of its engine.

use std::time::Duration;

use tokio::time::{sleep, timeout};

use super::folder;
use super::member::Member;
use super::nats::{Nats, SERVERS};
use super::power_cuts::World;
use crate::durable::disk::LoopDisk;
use crate::durable::people::People;
use crate::durable::visitor::Visitor;

/// Enough that each of two servers has some.
const ROOMS: usize = 8;

/// After this time a transaction that is not confirmed counts as one that waits.
const MOMENT: Duration = Duration::from_millis(500);
/// If a NATS server does not log that its disk is full, the disk stays full for this many times
/// [`MOMENT`].
const MOMENTS_FULL: usize = 20;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn people_of_a_server_whose_disk_is_full_wait_and_others_do_not() {
    let folder = folder("full");
    let Some(disk) = LoopDisk::new("cluster-full-disk", 32) else { return };
    let Some(nats) = Nats::start(folder.join("nats"), true) else { return };
    let options = nats.options();
    let data = format!("--data={}", disk.path.join("rooms").display());
    let mut full = Member::new("a", &folder, &[&options[..], &[data]].concat());
    let mut other = Member::new("b", &folder, &options);
    full.start();
    other.start();
    let (mut waiting, mut going_on) = (Vec::new(), Vec::new());
    for room in (0..ROOMS).map(|room| format!("room {room}")) {
        let mut one = Visitor::join(&format!("ws://{}", other.address()), &room).await;
        one.say("first");
        one.hear(1).await;
        let side = if full.has(&room) { &mut waiting } else { &mut going_on };
        side.push(one);
    }
    assert!(!waiting.is_empty() && !going_on.is_empty(), "each server has rooms");
    disk.fill();
    // The database has some room of its own.
    let mut said = 0;
    while !full.log().contains("the copy of the rooms waits") {
        said += 1;
        assert!(said < 1000, "the disk takes everything: {}", full.log());
        let line = format!("{said} {}", "x".repeat(50_000));
        for one in &mut going_on {
            one.say(&line);
            one.until(|one| one.has_heard(&line)).await;
        }
        waiting.iter().for_each(|one| one.say(&line));
    }
    assert!(full.log().contains("no space is left on the disk; free some"), "{}", full.log());
    let mut silent = 0;
    for one in &mut waiting {
        one.say("last");
        silent +=
            usize::from(timeout(MOMENT, one.until(|one| one.has_heard("last"))).await.is_err());
    }
    assert!(silent > 0, "what is not in the copy is confirmed");
    for one in &mut going_on {
        one.say("last");
        one.until(|one| one.has_heard("last")).await;
    }
    disk.free();
    for one in waiting.iter_mut().chain(&mut going_on) {
        let lines = one.hear(said + 2).await;
        let number = |line: &str| line.split(' ').next().unwrap().to_owned();
        let numbers: Vec<String> = lines[1..=said].iter().map(|line| number(line)).collect();
        assert_eq!(numbers, (1..=said).map(|number| number.to_string()).collect::<Vec<_>>());
        assert_eq!((one.own, one.gaps), (said + 2, 0));
    }
}

/// NATS stops storing when its disk is full, and has to be started again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn when_the_disks_of_nats_were_full_nothing_confirmed_is_lost_repeated_or_moved() {
    let folder = folder("full-nats");
    let Some(mut world) = World::start("cluster-full-nats", 256, &folder, true) else { return };
    let people = People::join(&world.balance().await);
    people.progress(200).await;
    world.disk.fill();
    // The NATS servers' logs are on the full disk, too, so the line that the disk is full may be
    // missing in a log. The test does not wait for it for ever.
    let is_full =
        |log: String| ["no space left", "out of resources"].iter().any(|text| log.contains(text));
    for _ in 0..MOMENTS_FULL {
        if (0..SERVERS).all(|at| is_full(world.nats.log(at))) {
            break;
        }
        sleep(MOMENT).await;
    }
    world.disk.free();
    world.restart_nats();
    people.progress(200).await;
    println!("{}", people.finish().await);
}
