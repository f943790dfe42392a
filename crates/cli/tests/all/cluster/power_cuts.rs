//! Cuts the power of all servers of the engine at once: their folders are on a file system that is
//! cut off from its disk. `CLUSTER_POWER_CUTS` says how often, 2 by default.

use std::path::Path;
use std::time::Duration;

use tokio::time::sleep;

use super::balancer::balance;
use super::member::Member;
use super::nats::{Nats, SERVERS};
use super::network::Place;
use super::{Dice, folder, number};
use crate::durable::disk::LoopDisk;
use crate::durable::people::People;
use crate::durable::visitor::Visitor;

/// The number of confirmations between two power cuts.
const CONFIRMED: usize = 200;

/// NATS on a disk whose power can be cut.
pub(super) struct World {
    pub(super) nats: Nats,
    pub(super) disk: LoopDisk,
    members: [Member; 3],
}

impl World {
    /// Starts NATS and the servers; `None` if this machine cannot, which is told.
    pub(super) fn start(name: &str, mib: u64, folder: &Path, syncs: bool) -> Option<Self> {
        let disk = LoopDisk::new(name, mib)?;
        let places = [(); SERVERS].map(|()| Place::loopback());
        let nats = Nats::start_at(places, folder.join("nats"), disk.path.clone(), syncs)?;
        let mut options = nats.options();
        if !syncs {
            options.push("--engine-accepts-lazy-sync".to_owned());
        }
        let mut members = ["a", "b", "c"].map(|name| Member::new(name, folder, &options));
        members.iter_mut().for_each(Member::start);
        Some(World { nats, disk, members })
    }

    /// The address of a balancer in front of the servers.
    pub(super) async fn balance(&self) -> String {
        balance(self.members.iter().map(Member::address).collect()).await
    }

    /// Kills all servers of NATS, and starts them again.
    pub(super) fn restart_nats(&mut self) {
        (0..SERVERS).for_each(|at| self.nats.kill(at));
        (0..SERVERS).for_each(|at| self.nats.restart(at));
        self.nats.wait();
    }

    /// Cuts the power of NATS, and of the servers as well if `all`. All of them start again.
    fn cut(&mut self, all: bool) {
        // They stop before the disk does: nobody hears of a sync that is under way and fails.
        (0..SERVERS).for_each(|at| self.nats.signal(at, "STOP"));
        self.disk.cut();
        (0..SERVERS).for_each(|at| self.nats.kill(at));
        if all {
            self.members.iter_mut().for_each(Member::kill);
        }
        self.disk.unmount();
        self.disk.mount("loop");
        self.restart_nats();
        if all {
            self.members.iter_mut().for_each(Member::start);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_power_cuts_of_all_of_nats_nothing_confirmed_is_lost_repeated_or_moved() {
    let folder = folder("power");
    let Some(mut world) = World::start("cluster-power-disk", 4096, &folder, true) else { return };
    let address = world.balance().await;
    let people = People::join(&address);
    let cuts = number("CLUSTER_POWER_CUTS", 2);
    let mut dice = Dice(number("CLUSTER_SEED", 7) as u64);
    for cut in 0..cuts {
        people.progress(CONFIRMED).await;
        sleep(Duration::from_micros(dice.below(10_000) as u64)).await;
        world.cut(cut % 2 == 1);
    }
    people.progress(CONFIRMED).await;
    println!("{cuts} power cuts; {}", people.finish().await);
}

/// The copies of the servers have what the engine loses. `CLUSTER_LAZY_POWER_CUTS` is the number of
/// power cuts, one by default. Each second time all servers lose their power, too, and then wait
/// for a minute for others that may have applied more.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_power_cut_of_nats_with_lazy_sync_people_get_a_gap_and_go_on() {
    let folder = folder("lazy-power");
    let Some(mut world) = World::start("cluster-lazy-disk", 512, &folder, false) else { return };
    let address = world.balance().await;
    let mut ada = Visitor::join(&address, "room").await;
    let mut bo = Visitor::join(&address, "room").await;
    // The streams themselves outlast the cuts.
    world.disk.sync();
    let mut lines = Vec::new();
    for cut in 1..=number("CLUSTER_LAZY_POWER_CUTS", 1) {
        let before = (0..20).map(|line| format!("line {line} before cut {cut}"));
        for line in before {
            ada.say(&line);
            both_hear(&mut ada, &mut bo, &line).await;
            lines.push(line);
        }
        world.cut(cut % 2 == 0);
        for one in [&mut ada, &mut bo] {
            one.until(|one| one.gaps == cut).await;
        }
        let after = format!("after cut {cut}");
        bo.say(&after);
        both_hear(&mut ada, &mut bo, &after).await;
        lines.push(after);
    }
    let mut carol = Visitor::join(&address, "room").await;
    assert_eq!(carol.hear(lines.len()).await, lines);
    let logs = world.members.iter().map(Member::log).collect::<String>();
    assert!(logs.contains("the engine lost its tail"), "nothing was lost, so no power was cut");
    assert!(!logs.contains("malformed"), "{logs}");
}

async fn both_hear(ada: &mut Visitor, bo: &mut Visitor, line: &str) {
    for one in [ada, bo] {
        one.until(|one| one.has_heard(line)).await;
    }
}
