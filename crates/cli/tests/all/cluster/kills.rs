//! Kills, pauses and stops servers of a cluster and of its engine at random times under load.
//! `CLUSTER_KILLS=500` does so 500 times; the default is 6.

use std::time::Duration;

use tokio::time::sleep;

use super::balancer::balance;
use super::member::Member;
use super::nats::Nats;
use super::{Dice, folder};
use crate::durable::people::People;

/// The number of confirmations between two faults.
const CONFIRMED: usize = 200;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_is_killed_nothing_confirmed_is_lost_repeated_or_moved() {
    let kills = std::env::var("CLUSTER_KILLS").map_or(6, |kills| kills.parse().unwrap());
    let folder = folder("kills");
    let Some(mut nats) = Nats::start(folder.join("nats"), true) else { return };
    let options = [
        format!("--engine={}", nats.address()),
        format!("--engine-monitoring={}", nats.monitoring()),
    ];
    let mut members = ["a", "b", "c"].map(|name| Member::new(name, &folder, &options));
    members.iter_mut().for_each(Member::start);
    let address = balance(members.iter().map(Member::port).collect()).await;
    let people = People::join(&address);
    let mut dice = Dice(7);
    let mut done = [0; 4];
    for _ in 0..kills {
        people.progress(CONFIRMED).await;
        sleep(Duration::from_micros(dice.below(10_000) as u64)).await;
        let (kind, at) = (dice.below(4), dice.below(3));
        done[kind] += 1;
        match kind {
            0 => {
                members[at].kill();
                sleep(Duration::from_millis(dice.below(6_000) as u64)).await;
                members[at].start();
            }
            1 => {
                nats.kill(at);
                sleep(Duration::from_millis(dice.below(6_000) as u64)).await;
                nats.restart(at);
                nats.wait();
            }
            2 => {
                members[at].signal("STOP");
                sleep(Duration::from_millis(dice.below(8_000) as u64)).await;
                members[at].signal("CONT");
            }
            _ => {
                members[at].stop();
                members[at].start();
            }
        }
    }
    people.progress(CONFIRMED).await;
    let outcome = people.finish().await;
    let [killed, engine, paused, stopped] = done;
    println!(
        "{killed} servers killed, {engine} NATS servers killed, {paused} servers paused, {stopped} stopped; {outcome}"
    );
}
