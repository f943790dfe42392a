//! A room in which few clients send a pointer each and everybody receives, with the clients of the
//! experiment fanout.

use std::sync::Arc;
use std::thread::{self, sleep};
use std::time::Duration;

use super::usage::{Load, Times, Watched};
use crate::Result;
use crate::fanout::SAMPLED;
use crate::fanout::crowd::{Seat, run};
use crate::fanout::ledger::{Ledger, Tally};
use crate::fanout::message::Pointer;
use crate::fanout::state::{FanoutState, Stage};
use crate::fanout::system::Clients;
use crate::statistics::Summary;

/// The time between the start command and the first message, so that all clients can be ready.
const HEAD_START: Duration = Duration::from_millis(50);
/// The longest time that a thousand clients may take to join.
const JOINING: Duration = Duration::from_secs(60);

/// A room of clients.
pub(super) struct Awareness<'a> {
    pub(super) room: &'a str,
    /// The port of the server that each client connects to. The first clients send.
    pub(super) ports: Vec<u16>,
    pub(super) senders: usize,
    /// Messages per second from each sender.
    pub(super) rate: u32,
    pub(super) seed: u64,
}

/// The figures of a room, and whether everybody had everything.
pub(super) struct Delivered {
    pub(super) load: Load,
    /// The time from sending to delivery, in ms, of the clients that decode at once.
    pub(super) latency: Summary,
    /// Seconds until all were in the room.
    pub(super) joining: f64,
}

impl Awareness<'_> {
    /// Lets the senders send, and compares what everybody received with what was sent. `look` is
    /// called when all have been in the room for the measured time.
    pub(super) fn play(
        &self,
        watched: &Watched<'_>,
        times: Times,
        look: &mut dyn FnMut(),
    ) -> Result<Delivered> {
        let planned = (times.warm_up + times.measured).as_secs_f64() * f64::from(self.rate);
        // There is room for more messages, because measuring takes a little longer than planned.
        let ledger = Ledger::new(self.senders, planned as usize + 2 * self.rate as usize + 10);
        let interval = 1_000_000_000 / u64::from(self.rate.max(1));
        let shared = FanoutState::new(ledger, Clients::WebSocket, self.room, interval);
        let shared = Arc::new(shared);
        let mut sampled = self.seats();
        let rest = sampled.split_off(SAMPLED.max(self.senders).min(sampled.len()));
        let clients = self.ports.len();
        let patience = JOINING * (1 + clients as u32 / 1000);
        thread::scope(|scope| {
            let crowds = [sampled, rest].map(|seats| {
                let shared = Arc::clone(&shared);
                scope.spawn(move || run(&shared, seats))
            });
            let start = shared.ledger.now();
            let played = shared.await_ready(clients, patience).and_then(|()| {
                let joining = (shared.ledger.now() - start) as f64 / 1e9;
                let load = measure(&shared, watched, times)?;
                look();
                shared.stage.send_replace(Stage::Listening);
                shared.await_silence(times.silence);
                Ok((load, joining))
            });
            shared.stage.send_replace(Stage::Over);
            let tallies = crowds.into_iter().flat_map(|crowd| crowd.join().unwrap_or_default());
            let tallies: Vec<Tally> = tallies.collect();
            let (load, joining) = played?;
            Ok(delivered(load, joining, &shared, &tallies))
        })
    }

    fn seats(&self) -> Vec<Seat> {
        let seat = |(number, &port): (usize, &u16)| Seat {
            number,
            port,
            pointer: (number < self.senders).then(|| Pointer::new(number, self.seed)),
            is_sampled: number < SAMPLED,
        };
        self.ports.iter().enumerate().map(seat).collect()
    }
}

/// Measures the servers while nobody sends, and then while the senders send.
fn measure(shared: &FanoutState, watched: &Watched<'_>, times: Times) -> Result<Load> {
    // Joins have consequences for a moment.
    sleep(times.silence);
    let begin = watched.used()?;
    sleep(times.calm);
    let calm = watched.used()?.since(&begin);
    let start = shared.ledger.now() + HEAD_START.as_nanos() as u64;
    shared.stage.send_replace(Stage::Sending(start));
    sleep(HEAD_START + times.warm_up);
    let before = watched.used()?;
    shared.ledger.open();
    sleep(times.measured);
    shared.ledger.close();
    let busy = watched.used()?.since(&before);
    Ok(Load { calm, busy, deliveries: 0, delivered: 0.0, failure: None })
}

fn delivered(load: Load, joining: f64, shared: &FanoutState, tallies: &[Tally]) -> Delivered {
    let totals = shared.ledger.totals();
    let sum = |of: &dyn Fn(&Tally) -> u64| tallies.iter().map(of).sum::<u64>();
    let (due, arrived) = (sum(&|tally| tally.due(&totals)), sum(&|tally| tally.arrived));
    let perfect = tallies.iter().filter(|tally| tally.is_perfect(&totals)).count();
    let wrong = (perfect < tallies.len()).then(|| {
        format!("only {perfect} of {} receivers had everything, once and intact", tallies.len())
    });
    let latencies = tallies.iter().filter_map(|tally| tally.latencies.as_ref()).flatten();
    let load = Load {
        deliveries: sum(&|tally| tally.counted),
        delivered: arrived as f64 / due.max(1) as f64,
        failure: shared.failure().or(wrong),
        ..load
    };
    let latency = Summary::of(&latencies.copied().collect::<Vec<_>>());
    Delivered { load, latency, joining }
}
