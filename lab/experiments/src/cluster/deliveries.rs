//! The processor time of a delivery: of a room at its owner, of one whose people are all connected
//! to another server, and of a server that runs alone.

use std::collections::BTreeMap;

use super::awareness::Awareness;
use super::deployment::Deployment;
use super::transactions::Transactions;
use super::usage::{Figures, Load, Watched, medians};
use super::{Engine, Part, Plan, row};
use crate::durable::people::{Pace, Seat};
use crate::host::{Folder, serve_with};
use crate::{Result, Update};

/// The server that has the rooms, the one to which their people are connected otherwise, and the
/// one that only follows the logs.
const OWNER: usize = 0;
const EDGE: usize = 1;
const FOLLOWER: usize = 2;
/// The clients that send, and the messages per second of each.
const SENDERS: usize = 10;
const RATE: u32 = 25;
/// Transactions per second of the part transactions, and of the part rooms.
const TRANSACTIONS: f64 = 100.0;
const TRANSACTIONS_OF_ROOMS: f64 = 400.0;
/// The clients of each room of the part rooms.
const PEOPLE_OF_ROOM: usize = 4;
/// The most that a delivery through another server should cost, over a direct one.
const OVER_DIRECT: f64 = 2.0;
/// The most that a delivery should cost the edge, over one of a server that runs alone.
const OVER_ALONE: f64 = 1.2;

/// The ways of deliveries that are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Path {
    Alone,
    Owner,
    Relay,
}

/// Measures the paths in turn, several times, and emits a row for each.
pub(super) fn measure(
    part: Part,
    engine: &Engine,
    plan: &Plan<'_>,
    emit: &mut dyn FnMut(Update),
) -> Result<()> {
    let deployment = Deployment::start(plan, engine, &[])?;
    let count = if part == Part::Rooms { plan.rooms } else { 1 };
    let folder = Folder::new(&plan.data)?;
    let alone = serve_with(&plan.program, Some(folder.path()), plan.options.tick, 0, &[])?;
    let mut runs: [Vec<Figures>; 3] = Default::default();
    let mut failure = None;
    for repetition in 1..=plan.repetitions {
        let mut found: Vec<Figures> = Vec::new();
        for path in [Path::Alone, Path::Owner, Path::Relay] {
            emit(Update::begun(format!("{engine}, {part}, {path:?}, {repetition}")));
            let (watched, port) = match path {
                Path::Alone => (Watched::Alone(&alone), alone.port),
                Path::Owner => (Watched::Cluster(&deployment), deployment.port(OWNER)),
                Path::Relay => (Watched::Cluster(&deployment), deployment.port(EDGE)),
            };
            // Rooms are stored, so that each run has its own.
            let rooms = deployment.rooms_of(OWNER, count, &format!("{path:?} {repetition}"))?;
            let (load, more) = run(part, &rooms, port, &watched, plan)?;
            found.push(figures(path, &load).into_iter().chain(more).collect());
            failure = failure.or(load.failure);
        }
        let ratio = |numerator: f64, path: usize| numerator / found[path]["us_per_delivery"];
        let relay = &found[2];
        let over_direct = ratio(relay["us_per_delivery"], 1);
        let over_alone = ratio(relay["edge_us_per_delivery"], 0);
        found[2].extend([("over_direct", over_direct), ("over_alone", over_alone)]);
        runs.iter_mut().zip(found).for_each(|(runs, figures)| runs.push(figures));
    }
    let [alone, owner, mut relay] = runs.map(|runs| medians(&runs));
    let edge = edge_of(&mut relay);
    for (path, figures) in [("alone", alone), ("owner", owner), ("relay", relay), ("edge", edge)] {
        let row = row::row(part, engine, plan)
            .with("path", path)
            .with("servers", if path == "alone" { 1 } else { 3 })
            .with("repetitions", plan.repetitions)
            .with("goals", goals(path));
        let row = with_size(row, part, count, plan);
        emit(Update::Row(row::with_figures(row, &figures).failed(failure.clone())));
    }
    Ok(())
}

fn goals(path: &str) -> BTreeMap<&'static str, f64> {
    match path {
        "relay" => [("over_direct", OVER_DIRECT)].into(),
        "edge" => [("over_alone", OVER_ALONE)].into(),
        _ => BTreeMap::new(),
    }
}

fn with_size(row: crate::Row, part: Part, rooms: usize, plan: &Plan<'_>) -> crate::Row {
    let row = row.with("rooms", rooms);
    match part {
        Part::Awareness => row
            .with("people", plan.people)
            .with("senders", SENDERS)
            .with("rate", SENDERS as f64 * f64::from(RATE)),
        Part::Transactions => row
            .with("people", plan.people)
            .with("senders", SENDERS)
            .with("rate", TRANSACTIONS)
            .with("bytes", plan.options.bytes),
        _ => row
            .with("people", PEOPLE_OF_ROOM)
            .with("senders", PEOPLE_OF_ROOM)
            .with("rate", TRANSACTIONS_OF_ROOMS)
            .with("bytes", plan.options.bytes),
    }
}

/// Runs the load of a part through one server. Returns further figures, too.
fn run(
    part: Part,
    rooms: &[String],
    port: u16,
    watched: &Watched<'_>,
    plan: &Plan<'_>,
) -> Result<(Load, Figures)> {
    let (seed, bytes) = (plan.options.common.seed, plan.options.bytes);
    if part == Part::Awareness {
        let awareness = Awareness {
            room: &rooms[0],
            ports: vec![port; plan.people],
            senders: SENDERS,
            rate: RATE,
            seed,
        };
        let delivered = awareness.play(watched, plan.times, &mut || {})?;
        let latency = delivered.latency;
        let more = [("p50_ms", latency.median), ("p99_ms", latency.p99)];
        return Ok((delivered.load, more.into()));
    }
    let seats = match part {
        Part::Transactions => seats(rooms, port, plan.people, SENDERS, TRANSACTIONS),
        _ => seats(rooms, port, PEOPLE_OF_ROOM, PEOPLE_OF_ROOM, TRANSACTIONS_OF_ROOMS),
    };
    let written = Transactions { seats, bytes, seed }.play(watched, plan.times)?;
    let more =
        [("confirm_p50_ms", written.confirm.median), ("confirm_p99_ms", written.confirm.p99)];
    Ok((written.load, more.into()))
}

/// Seats in rooms of `people` clients each. The first `writers` of each room write: all together
/// `rate` transactions per second.
fn seats(rooms: &[String], port: u16, people: usize, writers: usize, rate: f64) -> Vec<Seat> {
    let mean = std::time::Duration::from_secs_f64((rooms.len() * writers) as f64 / rate);
    let seat = |number: usize| {
        let pace = if number % people < writers { Pace::Every(mean) } else { Pace::Silent };
        Seat { room: rooms[number / people].clone(), port, number: number as u32, pace }
    };
    (0..rooms.len() * people).map(seat).collect()
}

fn figures(path: Path, load: &Load) -> Figures {
    let mut figures = row::of_load(load);
    let owner = load.each(OWNER);
    figures.insert("owner_cpu", load.busy.servers[OWNER]);
    figures.insert("calm_cpu", load.calm.servers[OWNER]);
    if path == Path::Relay {
        let edge = load.each(EDGE);
        figures.insert("edge_us_per_delivery", edge);
        figures.insert("edge_cpu", load.busy.servers[EDGE]);
        figures.insert("us_per_delivery", owner + edge);
    } else {
        figures.insert("us_per_delivery", owner);
    }
    if path != Path::Alone {
        figures.insert("owner_us_per_delivery", owner);
        figures.insert("follower_us_per_delivery", load.each(FOLLOWER));
    }
    figures
}

/// The figures of the edge's row, from those of the whole path.
fn edge_of(relay: &mut Figures) -> Figures {
    let mut edge = relay.clone();
    relay.remove("over_alone");
    let own = ["over_alone", "edge_us_per_delivery", "edge_cpu", "deliveries", "seconds"];
    edge.retain(|field, _| own.contains(field));
    if let Some(each) = edge.remove("edge_us_per_delivery") {
        edge.insert("us_per_delivery", each);
    }
    edge
}

#[cfg(test)]
mod tests {
    use super::super::usage::Busy;
    use super::*;

    fn load(servers: &[f64]) -> Load {
        let busy = |servers: &[f64]| Busy {
            seconds: 10.0,
            servers: servers.to_vec(),
            engine: 0.0,
            generator: 0.0,
        };
        let calm = busy(&vec![0.01; servers.len()]);
        let (busy, delivered, failure) = (busy(servers), 1.0, None);
        Load { calm, busy, deliveries: 1_000_000, delivered, failure }
    }

    #[test]
    fn both_servers_are_paid_for_what_is_relayed() {
        let alone = figures(Path::Alone, &load(&[0.11]));
        assert!((alone["us_per_delivery"] - 1.0).abs() < 1e-9);
        let mut relay = figures(Path::Relay, &load(&[0.06, 0.16, 0.02]));
        assert!((relay["us_per_delivery"] - 2.0).abs() < 1e-9, "{relay:?}");
        assert!((relay["follower_us_per_delivery"] - 0.1).abs() < 1e-9);
        relay.insert("over_alone", 1.5);
        let edge = edge_of(&mut relay);
        assert!((edge["us_per_delivery"] - 1.5).abs() < 1e-9);
        assert_eq!((edge["over_alone"], relay.get("over_alone")), (1.5, None));
    }

    #[test]
    fn the_writers_of_all_rooms_share_the_rate() {
        let rooms = ["a".to_owned(), "b".to_owned()];
        let seats = seats(&rooms, 80, 5, 2, 8.0);
        let mean = std::time::Duration::from_millis(500);
        let writes = |seat: &&Seat| matches!(seat.pace, Pace::Every(every) if every == mean);
        assert_eq!((seats.len(), seats.iter().filter(writes).count()), (10, 4));
        assert_eq!(seats.iter().filter(|seat| seat.room == "b").count(), 5);
    }
}
