//! Rooms in which few or all clients write transactions, with the clients of the experiment
//! durable.

use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use super::usage::{Load, Times, Watched};
use crate::Result;
use crate::durable::load::verdict;
use crate::durable::people::{self, DurableState, Kept, Pace, Seat, Stage, await_that};
use crate::durable::texts::Texts;
use crate::durable::verdict::Verdict;
use crate::statistics::Summary;

/// The longest wait for transactions that are under way after the last one was sent.
const PATIENCE: Duration = Duration::from_secs(10);

/// Clients in rooms.
pub(super) struct Transactions {
    pub(super) seats: Vec<Seat>,
    /// The size of a transaction in bytes.
    pub(super) bytes: usize,
    pub(super) seed: u64,
}

/// The figures of rooms, and the comparison of what everybody received.
pub(super) struct Written {
    pub(super) load: Load,
    /// The time from sending to the confirmation, in ms.
    pub(super) confirm: Summary,
    pub(super) verdict: Verdict,
}

impl Transactions {
    /// Lets the writers write, and compares what everybody received.
    pub(super) fn play(self, watched: &Watched<'_>, times: Times) -> Result<Written> {
        let shared = DurableState::new(Texts::new(self.bytes, self.seed), self.seed);
        let is_silent = |seat: &Seat| matches!(seat.pace, Pace::Silent);
        let (readers, writers): (Vec<Seat>, Vec<Seat>) =
            self.seats.into_iter().partition(is_silent);
        let (everybody, written_to) = (readers.len() + writers.len(), receivers(&writers));
        thread::scope(|scope| {
            // Listeners have a thread of their own, so that they do not delay the timed writers.
            let threads =
                [people::run(scope, &shared, writers), people::run(scope, &shared, readers)];
            let measured =
                shared.await_ready(everybody).and_then(|()| measure(&shared, watched, times));
            shared.enter(Stage::Listening);
            let due = || shared.sent() as f64 * written_to;
            // A client that failed ends the wait.
            let is_over = || shared.delivered() as f64 >= due() || shared.failure().is_some();
            await_that(PATIENCE, is_over);
            sleep(times.silence);
            shared.enter(Stage::Over);
            let kept = threads.into_iter().flat_map(|thread| thread.join().unwrap_or_default());
            let kept: Vec<(Seat, Kept)> = kept.collect();
            let (load, from, until) = measured?;
            Ok(written(Load { failure: shared.failure(), ..load }, (from, until), kept))
        })
    }
}

/// The writers that receive what one of them writes, on average.
fn receivers(writers: &[Seat]) -> f64 {
    let in_room = |seat: &Seat| writers.iter().filter(|other| other.room == seat.room).count();
    let all: usize = writers.iter().map(in_room).sum();
    all as f64 / writers.len().max(1) as f64
}

/// Measures the servers while nobody writes, and then while the writers write. Returns the
/// measured time, too.
fn measure(
    shared: &DurableState,
    watched: &Watched<'_>,
    times: Times,
) -> Result<(Load, Instant, Instant)> {
    // Joins have consequences for a moment.
    sleep(times.silence);
    let begin = watched.used()?;
    sleep(times.calm);
    let calm = watched.used()?.since(&begin);
    shared.enter(Stage::Writing);
    sleep(times.warm_up);
    let before = watched.used()?;
    let from = Instant::now();
    sleep(times.measured);
    let until = Instant::now();
    let busy = watched.used()?.since(&before);
    Ok((Load { calm, busy, deliveries: 0, delivered: 0.0, failure: None }, from, until))
}

fn written(load: Load, (from, until): (Instant, Instant), kept: Vec<(Seat, Kept)>) -> Written {
    let within = |at: &Instant| *at >= from && *at < until;
    let arrivals = kept.iter().flat_map(|(_, kept)| &kept.arrivals);
    let deliveries = arrivals.filter(|at| within(at)).count() as u64;
    let confirmations = kept.iter().flat_map(|(_, kept)| &kept.confirmations);
    let times = confirmations.filter(|(sent, _)| within(sent));
    let times: Vec<f64> = times.map(|(_, time)| time.as_secs_f64() * 1e3).collect();
    let (sent, arrived) =
        (due(&kept), kept.iter().map(|(_, kept)| kept.arrivals.len()).sum::<usize>());
    let verdict = verdict(kept);
    let failure = load.failure.clone().or_else(|| verdict.failure());
    let delivered = arrived as f64 / sent.max(1) as f64;
    let load = Load { deliveries, delivered, failure, ..load };
    Written { load, confirm: Summary::of(&times), verdict }
}

/// The number of deliveries of all transactions to everybody in their rooms.
fn due(kept: &[(Seat, Kept)]) -> u64 {
    let in_room = |room: &str| kept.iter().filter(|(seat, _)| seat.room == room).count() as u64;
    let written = kept.iter().filter(|(_, kept)| kept.sent > 0);
    written.map(|(seat, kept)| kept.sent * in_room(&seat.room)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seat(room: &str, number: u32) -> Seat {
        Seat { room: room.to_owned(), port: 80, number, pace: Pace::Ahead(1) }
    }

    #[test]
    fn everybody_in_a_room_receives_what_is_written_there() {
        let seats = [seat("a", 0), seat("a", 1), seat("b", 2), seat("a", 3)];
        assert_eq!(receivers(&seats), 2.5);
        let sent = |sent| Kept { sent, ..Kept::default() };
        let kept = [sent(10), sent(0), sent(5), sent(0)];
        let kept: Vec<_> = seats.into_iter().zip(kept).collect();
        assert_eq!(due(&kept), 10 * 3 + 5);
    }
}
