//! Servers that are killed, drained and paused under load: how long do their people wait, and is
//! anything lost?

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use oorandom::Rand64;

use super::balancer::Balancer;
use super::deployment::{Deployment, SERVERS};
use super::{Engine, Part, Plan, row};
use crate::durable::kill::settle;
use crate::durable::people::{self, DurableState, Kept, Pace, Seat, Stage, await_that};
use crate::durable::row::with_verdict;
use crate::durable::texts::Texts;
use crate::durable::verdict::{Told, Verdict};
use crate::statistics::Summary;
use crate::{Result, Row, Update};

/// The rooms, all of which one server has, and the clients of each. A balancer spreads the clients
/// over all servers.
const ROOMS: usize = 10;
const PEOPLE: usize = 6;
/// The server whose rooms they are.
const OWNER: usize = 0;
/// How long a client waits after a confirmation until it writes again.
const PAUSE: Duration = Duration::from_millis(100);
/// The time between the last repair and a fault, and the most that is added at random.
const QUIET: Duration = Duration::from_secs(1);
const MOMENTS_US: u64 = 1_000_000;
/// How long a paused server is paused: others have taken its rooms by then.
const PAUSED: Duration = Duration::from_secs(8);
/// The longest time until all clients have a confirmation again.
const PATIENCE: Duration = Duration::from_secs(60);

/// Does a fault again and again, and returns the row.
pub(super) fn measure(
    part: Part,
    engine: &Engine,
    plan: &Plan<'_>,
    emit: &mut dyn FnMut(Update),
) -> Result<Row> {
    emit(Update::begun(format!("{engine}, {part}, {} rounds", plan.rounds)));
    let mut deployment = Deployment::start(plan, engine, &[])?;
    let rooms = deployment.rooms_of(OWNER, ROOMS, "fault")?;
    let ports: Vec<u16> = deployment.members.iter().map(|member| member.port).collect();
    let balancer = Balancer::new(&ports)?;
    let seed = plan.options.common.seed;
    let shared = DurableState::new(Texts::new(plan.options.bytes, seed), seed);
    let seat = |number: usize| Seat {
        room: rooms[number / PEOPLE].clone(),
        port: balancer.port,
        number: number as u32,
        pace: Pace::After(PAUSE),
    };
    thread::scope(|scope| {
        let people = people::run(scope, &shared, (0..ROOMS * PEOPLE).map(seat).collect());
        let played = shared.await_ready(ROOMS * PEOPLE).and_then(|()| {
            shared.enter(Stage::Writing);
            let faults = play(part, &mut deployment, &shared, plan)?;
            settle(&shared, PEOPLE as u64);
            let orders = rooms.iter().map(|room| people::read(&shared, balancer.port, room));
            Ok((faults, orders.collect::<Result<Vec<_>>>()?))
        });
        shared.enter(Stage::Over);
        let kept: Vec<(Seat, Kept)> = people.join().unwrap_or_default();
        let (faults, orders) = played?;
        let row = with_times(row::row(part, engine, plan), part, &faults, &kept);
        let verdict = verdict(&rooms, &orders, &kept);
        let row = row.with("rounds", plan.rounds).with("bytes", plan.options.bytes);
        Ok(with_verdict(row, &verdict, shared.failure()))
    })
}

/// When a fault began, and when all clients were confirmed again.
type Fault = (Instant, Instant);

/// Does the fault, and repairs it, once per round of the plan.
fn play(
    part: Part,
    deployment: &mut Deployment,
    shared: &Arc<DurableState>,
    plan: &Plan<'_>,
) -> Result<Vec<Fault>> {
    let mut random = Rand64::new(u128::from(plan.options.common.seed));
    let mut faults = Vec::new();
    for round in 0..plan.rounds {
        sleep(QUIET + Duration::from_micros(random.rand_range(0..MOMENTS_US)));
        let leader = match (&deployment.nats, part) {
            (Some(nats), Part::KillLeader) => Some(nats.leader()?),
            _ => None,
        };
        let begin = Instant::now();
        harm(part, deployment, leader)?;
        let harmed = Instant::now();
        let is_over =
            || shared.confirmed_since(harmed) == ROOMS * PEOPLE || shared.failure().is_some();
        let is_over = await_that(PATIENCE, is_over);
        match shared.failure() {
            Some(why) => return Err(why.into()),
            None if !is_over => {
                let back = shared.confirmed_since(harmed);
                let all = ROOMS * PEOPLE;
                return Err(format!("only {back} of {all} people were back in time").into());
            }
            None => faults.push((begin, Instant::now())),
        }
        repair(part, deployment, leader)?;
        if round + 1 < plan.rounds {
            deployment.await_rooms(OWNER, ROOMS)?;
        }
    }
    Ok(faults)
}

/// Does the fault of a part.
fn harm(part: Part, deployment: &mut Deployment, leader: Option<usize>) -> Result<()> {
    let owner = &mut deployment.members[OWNER];
    match part {
        Part::Drain => owner.stop(),
        Part::Pause => {
            let server = owner.server()?;
            server.signal(rustix::process::Signal::STOP);
            sleep(PAUSED);
            server.signal(rustix::process::Signal::CONT);
        }
        _ => {
            if let (Some(nats), Some(leader)) = (&mut deployment.nats, leader) {
                nats.kill(leader);
            }
            owner.kill();
        }
    }
    Ok(())
}

/// Starts again what does not run.
fn repair(part: Part, deployment: &mut Deployment, leader: Option<usize>) -> Result<()> {
    if let (Some(nats), Some(leader)) = (&mut deployment.nats, leader) {
        nats.restart(leader)?;
        nats.wait()?;
    }
    match part {
        Part::Pause => Ok(()),
        _ => deployment.members[OWNER].start(),
    }
}

fn with_times(row: Row, part: Part, faults: &[Fault], kept: &[(Seat, Kept)]) -> Row {
    let mut waits = Vec::new();
    for &fault in faults {
        waits.extend(kept.iter().map(|(_, kept)| wait(fault, &kept.confirmations).as_secs_f64()));
    }
    let most = waits.iter().copied().fold(0.0, f64::max);
    let times = Summary::of(&waits);
    let goals: BTreeMap<_, _> =
        part.goal_s().map(|goal| ("takeover_p99_s", goal)).into_iter().collect();
    row.with("rooms", ROOMS)
        .with("people", PEOPLE)
        .with("servers", SERVERS)
        .with("takeover_p50_s", times.median)
        .with("takeover_p99_s", times.p99)
        .with("takeover_max_s", most)
        .with("goals", goals)
}

/// The longest time for which a person waited for a confirmation, from the beginning of the fault,
/// or from sending if that was later, to the confirmation.
fn wait((begin, end): Fault, confirmations: &[(Instant, Duration)]) -> Duration {
    let during = confirmations
        .iter()
        .map(|&(sent, took)| (sent, sent + took))
        .filter(|(sent, confirmed)| *confirmed > begin && *sent < end);
    during.map(|(sent, confirmed)| confirmed - sent.max(begin)).max().unwrap_or_default()
}

/// Compares what everybody received with what somebody receives who joins in the end.
fn verdict(rooms: &[String], orders: &[Told], kept: &[(Seat, Kept)]) -> Verdict {
    let mut verdict = Verdict::default();
    for (room, order) in rooms.iter().zip(orders) {
        let of_room = kept.iter().filter(|(seat, _)| seat.room == *room);
        let told: Vec<_> = of_room.map(|(_, kept)| kept.told.clone()).collect();
        verdict += Verdict::of(order, &told);
    }
    verdict
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_wait_in_a_fault_counts() {
        let origin = Instant::now();
        let at = |ms: u64| origin + Duration::from_millis(ms);
        let sent = |ms: u64, took: u64| (at(ms), Duration::from_millis(took));
        let fault = (at(1000), at(6000));
        let waited = |all: &[(Instant, Duration)]| wait(fault, all).as_millis();
        // What was confirmed before the fault, or sent after it, does not count.
        assert_eq!(waited(&[sent(100, 800), sent(6100, 900)]), 0);
        // What was under way waits from the fault on.
        assert_eq!(waited(&[sent(900, 4100)]), 4000);
        // A confirmation that was under way still came; the next transaction waited.
        assert_eq!(waited(&[sent(900, 150), sent(1150, 4000), sent(5200, 50)]), 4000);
    }
}
