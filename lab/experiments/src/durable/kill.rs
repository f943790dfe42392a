//! Kills a server again and again while clients write.

use std::thread;
use std::time::{Duration, Instant};

use oorandom::Rand64;

use super::people::{self, DurableState, Kept, Pace, Seat, Stage, await_that};
use super::row;
use super::texts::Texts;
use super::verdict::Verdict;
use super::{Mode, Part, Plan};
use crate::host::{Folder, serve};
use crate::server::Server;
use crate::statistics::median;
use crate::{Result, Row, Update};

const ROOMS: u32 = 3;
/// The number of clients in each room.
const PEOPLE: u32 = 4;
/// The number of transactions that each client has under way.
const AHEAD: usize = 5;
/// Confirmations between two kills.
const CONFIRMED: u64 = 100;
/// The server is killed within this time after these confirmations, each time at another moment of
/// the tick and of the commit.
const MOMENTS_US: u64 = 50_000;
/// The longest wait, which no busy machine needs.
const PATIENCE: Duration = Duration::from_secs(60);

/// Kills a server `rounds` times, and returns the row.
pub(super) fn measure(plan: &Plan<'_>, emit: &mut dyn FnMut(Update)) -> Result<Row> {
    plan.begun(emit, format!("{} kills", plan.rounds));
    let folder = Folder::new(&plan.data)?;
    let start = |port| serve(&plan.program, Some(folder.path()), plan.options.tick, port);
    let server = start(0)?;
    let (seed, port) = (plan.options.common.seed, server.port);
    let shared = DurableState::new(Texts::new(plan.options.bytes, seed), seed);
    let seat = |number| Seat { room: room(number), port, number, pace: Pace::Ahead(AHEAD) };
    thread::scope(|scope| {
        let people = people::run(scope, &shared, (0..ROOMS * PEOPLE).map(seat).collect());
        let killed = shared.await_ready((ROOMS * PEOPLE) as usize).and_then(|()| {
            shared.enter(Stage::Writing);
            let restart = || start(port);
            let (times, server) = kill(server, &shared, plan, &restart)?;
            settle(&shared, u64::from(PEOPLE));
            // After the server's end, the store on the disk is read.
            drop(server);
            let server = restart()?;
            let orders = (0..ROOMS).map(|number| people::read(&shared, port, &room(number)));
            let orders = orders.collect::<Result<Vec<_>>>()?;
            drop(server);
            Ok((times, orders))
        });
        shared.enter(Stage::Over);
        let kept: Vec<(Seat, Kept)> = people.join().unwrap_or_default();
        let (times, orders) = killed?;
        let mut verdict = Verdict::default();
        for (number, order) in (0..ROOMS).zip(&orders) {
            let of_room = kept.iter().filter(|(seat, _)| seat.room == room(number));
            let told: Vec<_> = of_room.map(|(_, kept)| kept.told.clone()).collect();
            verdict += Verdict::of(order, &told);
        }
        let row = row::row(Part::Kill, Mode::Local, plan.options)
            .with("rooms", ROOMS)
            .with("people", PEOPLE)
            .with("writers", PEOPLE)
            .with("rounds", plan.rounds)
            .with("transactions", shared.sent())
            .with("listen_s", median(times.iter().map(|(listen, _)| *listen).collect()))
            .with("recover_s", median(times.iter().map(|(_, recover)| *recover).collect()));
        Ok(row::with_verdict(row, &verdict, shared.failure()))
    })
}

fn room(person: u32) -> String {
    format!("room {}", person % ROOMS)
}

/// Kills the server and starts it again, once per round of the plan. Returns two times in seconds
/// for each round: until the server listened, and until a client's transaction was confirmed. Also
/// returns the server that runs at the end.
fn kill(
    mut server: Server,
    shared: &DurableState,
    plan: &Plan<'_>,
    start: &dyn Fn() -> Result<Server>,
) -> Result<(Vec<(f64, f64)>, Server)> {
    let mut random = Rand64::new(u128::from(plan.options.common.seed));
    let mut times = Vec::new();
    for _ in 0..plan.rounds {
        let before = shared.confirmed();
        await_confirmed(shared, before + CONFIRMED)?;
        thread::sleep(Duration::from_micros(random.rand_range(0..MOMENTS_US)));
        drop(server);
        let begin = Instant::now();
        server = start()?;
        let listen = begin.elapsed();
        await_confirmed(shared, shared.confirmed() + 1)?;
        times.push((listen.as_secs_f64(), begin.elapsed().as_secs_f64()));
    }
    Ok((times, server))
}

pub(crate) fn await_confirmed(shared: &DurableState, count: u64) -> Result<()> {
    let is_over = || shared.confirmed() >= count || shared.failure().is_some();
    match (await_that(PATIENCE, is_over), shared.failure()) {
        (_, Some(why)) => Err(why.into()),
        (false, _) => Err("nothing was confirmed for a minute".into()),
        (true, _) => Ok(()),
    }
}

/// Stops the writing, and waits until each of `people` clients has received all transactions.
pub(crate) fn settle(shared: &DurableState, people: u64) {
    shared.enter(Stage::Listening);
    // After this pause, no further transaction is written, so their number is known.
    thread::sleep(Duration::from_millis(100));
    let is_over = || {
        let sent = shared.sent();
        shared.confirmed() >= sent && shared.delivered() >= sent * people
    };
    // Transactions that have not come by then count as lost.
    await_that(PATIENCE, || is_over() || shared.failure().is_some());
}
