//! The processor time of a join.

use std::collections::BTreeMap;
use std::thread;

use super::deployment::{Deployment, SERVERS};
use super::usage::{Figures, Watched, medians};
use super::{Engine, Part, Plan, row};
use crate::durable::people::{self, DurableState, Pace, Seat, Stage};
use crate::durable::texts::Texts;
use crate::host::{Folder, serve_with};
use crate::{Result, Update};

const OWNER: usize = 0;
const EDGE: usize = 1;
/// The clients of each room.
const PEOPLE: usize = 20;
/// An option with which a server takes everybody in at once.
const AT_ONCE: &str = "--max-join-lag=0";
/// How many times as many joins three servers should take as one, if each had processors of its
/// own.
const THREE_OVER_ONE: f64 = 2.5;

/// The ways of joins that are measured. With `any`, the rooms and their people are spread over all
/// servers.
const PATHS: [&str; 4] = ["alone", "owner", "relay", "any"];

/// Measures the paths in turn, several times, and emits a row for each.
pub(super) fn measure(
    engine: &Engine,
    plan: &Plan<'_>,
    emit: &mut dyn FnMut(Update),
) -> Result<()> {
    let deployment = Deployment::start(plan, engine, &[AT_ONCE])?;
    let folder = Folder::new(&plan.data)?;
    let options = [AT_ONCE.to_owned()];
    let alone = serve_with(&plan.program, Some(folder.path()), plan.options.tick, 0, &options)?;
    let count = plan.joins / PEOPLE;
    let of_owner = deployment.rooms_of(OWNER, count, "joins")?;
    let of_any: Vec<String> = (0..count).map(|number| format!("any {number}")).collect();
    let mut runs: BTreeMap<&str, Vec<Figures>> = BTreeMap::new();
    for repetition in 1..=plan.repetitions {
        for path in PATHS {
            emit(Update::begun(format!("{engine}, joins, {path}, {repetition}")));
            let owner = [OWNER];
            let (watched, rooms, servers) = match path {
                "alone" => (Watched::Alone(&alone), &of_owner, &owner[..]),
                "owner" => (Watched::Cluster(&deployment), &of_owner, &owner[..]),
                "relay" => (Watched::Cluster(&deployment), &of_owner, &[EDGE][..]),
                _ => (Watched::Cluster(&deployment), &of_any, &[0, 1, 2][..]),
            };
            let port = |number: usize| match watched {
                Watched::Alone(server) => server.port,
                Watched::Cluster(_) => deployment.port(servers[number % servers.len()]),
            };
            let seat = |number: usize| Seat {
                room: rooms[number / PEOPLE].clone(),
                port: port(number),
                number: number as u32,
                pace: Pace::Silent,
            };
            let figures = join((0..count * PEOPLE).map(seat).collect(), &watched, plan)?;
            runs.entry(path).or_default().push(figures);
        }
    }
    let runs: BTreeMap<_, _> = runs.iter().map(|(path, runs)| (*path, medians(runs))).collect();
    let each = |path: &str| runs[path]["us_per_join"];
    let gain = SERVERS as f64 * each("alone") / each("any");
    for path in PATHS {
        let is_any = path == "any";
        // The goal is a least value, while goals of rows are greatest ones.
        let row = row::row(Part::Joins, engine, plan)
            .with("path", path)
            .with("servers", if path == "alone" { 1 } else { SERVERS })
            .with("rooms", count)
            .with("people", PEOPLE)
            .with("repetitions", plan.repetitions)
            .with("three_over_one", is_any.then_some(gain))
            .with("goals", goals(is_any, each("alone")));
        emit(Update::Row(row::with_figures(row, &runs[path])));
    }
    Ok(())
}

/// The goal of joins at all three servers, as the most that each may cost.
fn goals(is_any: bool, alone: f64) -> BTreeMap<&'static str, f64> {
    let most = SERVERS as f64 * alone / THREE_OVER_ONE;
    is_any.then_some(("us_per_join", most)).into_iter().collect()
}

/// Lets everybody join, and leave again.
fn join(seats: Vec<Seat>, watched: &Watched<'_>, plan: &Plan<'_>) -> Result<Figures> {
    let shared = DurableState::new(Texts::new(plan.options.bytes, 0), plan.options.common.seed);
    let count = seats.len();
    let begin = watched.used()?;
    thread::sleep(plan.times.calm);
    let before = watched.used()?;
    let calm = before.since(&begin);
    let used = thread::scope(|scope| {
        let joining = people::run(scope, &shared, seats);
        let used = shared.await_ready(count).and_then(|()| watched.used());
        shared.enter(Stage::Over);
        let _ = joining.join();
        used
    })?;
    let busy = used.since(&before);
    // Rooms are closed, and connections end.
    thread::sleep(plan.times.silence);
    let each: Vec<f64> =
        (0..busy.servers.len()).map(|server| busy.each(&calm, server, count as u64)).collect();
    let mut figures = Figures::from([
        ("us_per_join", each.iter().sum()),
        ("join_s", busy.seconds),
        ("engine_cpu", busy.engine),
        ("generator_cpu", busy.generator),
    ]);
    if each.len() == SERVERS {
        figures.insert("owner_us_per_join", each[OWNER]);
        figures.insert("edge_us_per_join", each[EDGE]);
    }
    Ok(figures)
}
