//! A server that is killed again and again while people write.

use std::thread;
use std::time::{Duration, Instant};

use oorandom::Rand64;

use super::line::Texts;
use super::people::{self, Kept, Pace, Seat, Shared, Stage, await_that};
use super::row;
use super::verdict::Verdict;
use super::{Mode, Part, Plan};
use crate::host::{Folder, serve};
use crate::server::Server;
use crate::statistics::median;
use crate::{Result, Row, Update};

const ROOMS: u32 = 3;
/// In each room.
const PEOPLE: u32 = 4;
/// Transactions that everybody has under way.
const AHEAD: usize = 5;
/// Confirmations between two kills.
const CONFIRMED: u64 = 100;
/// The server is killed within this time after them, at another moment of the tick and of the commit each time.
const MOMENTS_US: u64 = 50_000;
/// Longer than anything takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Kills a server `rounds` times; gives the row.
pub(super) fn measure(plan: &Plan<'_>, tell: &mut dyn FnMut(Update)) -> Result<Row> {
    plan.begun(tell, format!("{} kills", plan.rounds));
    let folder = Folder::new(&plan.data)?;
    let start = |port| serve(&plan.program, Some(folder.path()), plan.options.tick, port);
    let server = start(0)?;
    let (seed, port) = (plan.options.common.seed, server.port);
    let shared = Shared::new(port, Texts::new(plan.options.bytes, seed), seed);
    let seat = |number| Seat { room: room(number), number, pace: Pace::Ahead(AHEAD) };
    thread::scope(|scope| {
        let people = people::run(scope, &shared, (0..ROOMS * PEOPLE).map(seat).collect());
        let killed = shared.await_ready((ROOMS * PEOPLE) as usize).and_then(|()| {
            shared.tell(Stage::Writing);
            let restart = || start(port);
            let (times, server) = kill(server, &shared, plan, &restart)?;
            settle(&shared, u64::from(PEOPLE));
            // What is on the disk is the truth.
            drop(server);
            let server = restart()?;
            let orders = (0..ROOMS).map(|number| people::read(&shared, &room(number)));
            let orders = orders.collect::<Result<Vec<_>>>()?;
            drop(server);
            Ok((times, orders))
        });
        shared.tell(Stage::Over);
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

/// Kills the server and starts it again. Returns how long it took each time until it listened, and until somebody had a
/// confirmation, in seconds, and the last server.
fn kill(
    mut server: Server,
    shared: &Shared,
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

pub(super) fn await_confirmed(shared: &Shared, count: u64) -> Result<()> {
    let is_over = || shared.confirmed() >= count || shared.failure().is_some();
    match (await_that(PATIENCE, is_over), shared.failure()) {
        (_, Some(why)) => Err(why.into()),
        (false, _) => Err("nothing was confirmed for a minute".into()),
        (true, _) => Ok(()),
    }
}

/// Lets nobody write, and waits until everybody of `people` in each room has everything.
pub(super) fn settle(shared: &Shared, people: u64) {
    shared.tell(Stage::Listening);
    // After this pause, no further transaction is written, so their number is known.
    thread::sleep(Duration::from_millis(100));
    let is_over = || {
        let sent = shared.sent();
        shared.confirmed() >= sent && shared.delivered() >= sent * people
    };
    // Transactions that have not come by then count as lost.
    await_that(PATIENCE, || is_over() || shared.failure().is_some());
}
