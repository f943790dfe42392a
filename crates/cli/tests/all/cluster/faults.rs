//! Kills, pauses, stops and cuts off servers of a cluster and of its engine under load.
//!
//! `CLUSTER_FAULTS=800` does so 800 times; the default is 6, each kind once. `CLUSTER_SEED` is
//! another seed of what is chosen at random. `CLUSTER_ENGINE=postgres` takes PostgreSQL instead of
//! NATS.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::sleep;

use super::balancer::balance;
use super::engine::Engine;
use super::member::Member;
use super::network::{Network, Place};
use super::{Dice, folder, number};
use crate::durable::people::People;

/// The number of confirmations between two faults.
const CONFIRMED: usize = 200;

/// The time in which servers notice that they are cut off.
const NOTICED: Duration = Duration::from_secs(6);

/// A kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fault {
    /// Packets of one direction are dropped.
    Cut,
    /// A server of the cluster is killed.
    ServerKilled,
    /// A server of the engine is killed that leads the logs of some shards.
    LeaderKilled,
    /// A server of the cluster does not run for a while.
    Paused,
    /// A server of the engine is killed.
    EngineKilled,
    /// An operator stops a server of the cluster.
    Stopped,
}

/// The faults in their order, again and again: five of eight are kills.
const FAULTS: [Fault; 8] = [
    Fault::Cut,
    Fault::ServerKilled,
    Fault::LeaderKilled,
    Fault::Paused,
    Fault::EngineKilled,
    Fault::Stopped,
    Fault::ServerKilled,
    Fault::EngineKilled,
];

struct World {
    engine: Engine,
    members: [Member; 3],
    dice: Dice,
    network: Network,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_fails_nothing_confirmed_is_lost_repeated_or_moved() {
    play("faults", &[]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_fails_nothing_confirmed_is_lost_repeated_or_moved_with_mirrors() {
    play("faults-mirrors", &["--large=*"]).await;
}

async fn play(name: &str, more: &[&str]) {
    let folder = folder(name);
    let mut network = Network::new();
    let Some(engine) = Engine::start(&mut network, &folder) else { return };
    let mut options = engine.options();
    options.extend(more.iter().map(|option| (*option).to_owned()));
    let mut members =
        ["a", "b", "c"].map(|name| Member::at(network.place(), name, &folder, &options));
    members.iter_mut().for_each(Member::start);
    let address = balance(members.iter().map(Member::address).collect()).await;
    let people = People::join(&address);
    let dice = Dice(number("CLUSTER_SEED", 7) as u64);
    let mut world = World { engine, members, dice, network };
    let mut done = BTreeMap::<Fault, usize>::new();
    let can_drop = world.network.can_drop();
    let faults = FAULTS.into_iter().filter(|fault| *fault != Fault::Cut || can_drop);
    for fault in faults.cycle().take(number("CLUSTER_FAULTS", 6)) {
        people.progress(CONFIRMED).await;
        world.pause(10).await;
        world.fail(fault, &people).await;
        *done.entry(fault).or_default() += 1;
    }
    people.progress(CONFIRMED).await;
    println!("{done:?}; {}", people.finish().await);
}

impl World {
    /// Lets a fault happen, and ends it.
    async fn fail(&mut self, fault: Fault, people: &People) {
        let at = self.dice.below(self.members.len());
        match fault {
            Fault::ServerKilled => {
                self.members[at].kill();
                self.pause(6_000).await;
                self.members[at].start();
            }
            Fault::EngineKilled => self.kill_engine(at % self.engine.places().len()).await,
            Fault::LeaderKilled => {
                let leader = self.engine.leader(at);
                self.kill_engine(leader).await;
            }
            Fault::Paused => {
                self.members[at].signal("STOP");
                self.pause(8_000).await;
                self.members[at].signal("CONT");
            }
            Fault::Stopped => {
                self.members[at].stop();
                self.members[at].start();
            }
            Fault::Cut => {
                let (from, to) = self.cut(at);
                println!("packets from {from:?} to {to:?} are dropped");
                self.network.drop_packets(&from, &to);
                sleep(NOTICED).await;
                self.pause(6_000).await;
                // People of a server that is cut off are served by another one meanwhile.
                people.progress_in_each_room(CONFIRMED / 10).await;
                self.network.pass_packets(&from, &to);
            }
        }
    }

    async fn kill_engine(&mut self, at: usize) {
        self.engine.kill(at);
        self.pause(6_000).await;
        self.engine.restart(at);
    }

    /// Chooses a direction: from one server to another one, or all that a server sends or receives,
    /// that of clients included.
    fn cut(&mut self, at: usize) -> (Vec<Place>, Vec<Place>) {
        let members: Vec<Place> = self.members.iter().map(|it| it.place().clone()).collect();
        let engines = self.engine.places().to_vec();
        let all = [&members[..], &engines, &[self.network.here().clone()]].concat();
        let one = vec![members[at].clone()];
        let engine = vec![engines[self.dice.below(engines.len())].clone()];
        let (from, to) = match self.dice.below(5) {
            0 => (one, vec![members[(at + 1) % members.len()].clone()]),
            1 => (one, engine),
            2 => (engine, vec![engines[at % engines.len()].clone()]),
            3 => (one, all),
            _ => (engine, all),
        };
        if self.dice.below(2) == 0 { (from, to) } else { (to, from) }
    }

    /// Waits for a random time of at most these milliseconds.
    async fn pause(&mut self, most: usize) {
        sleep(Duration::from_micros(self.dice.below(most * 1000) as u64)).await;
    }
}
