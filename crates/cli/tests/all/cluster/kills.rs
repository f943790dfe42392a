//! Kills, pauses and stops servers of a cluster and of its engine at random times under load.
//! `CLUSTER_KILLS=500` does so 500 times; the default is 6. `CLUSTER_ENGINE=postgres://…` takes
//! another engine, which is left alone.

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
    let (mut nats, options) = match std::env::var("CLUSTER_ENGINE") {
        Ok(engine) => (None, vec![format!("--engine={engine}")]),
        Err(_) => {
            let Some(nats) = Nats::start(folder.join("nats"), true) else { return };
            let options = nats.options();
            (Some(nats), options)
        }
    };
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
        match (kind, &mut nats) {
            (0, Some(nats)) => {
                nats.kill(at);
                sleep(Duration::from_millis(dice.below(6_000) as u64)).await;
                nats.restart(at);
                nats.wait();
            }
            (0 | 1, _) => {
                members[at].kill();
                sleep(Duration::from_millis(dice.below(6_000) as u64)).await;
                members[at].start();
            }
            (2, _) => {
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
    let [engine, killed, paused, stopped] = done;
    println!(
        "{killed} servers killed, {engine} of the engine (or ours, if that is left alone), {paused} servers paused, {stopped} stopped; {outcome}"
    );
}
