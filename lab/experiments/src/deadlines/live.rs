//! A few cells over real sockets, each beside the simulation's.

use std::thread;
use std::time::Duration;

use super::cell::Cell;
use super::contender::Contender;
use super::end::{self, Endpoint};
use super::pair::Setup;
use super::real::{Carrier, End, Outcome, Output, Plain, Scheme, measure};
use super::row::{Part, row};
use super::run::Log;
use super::{Input, Options, warm_up};
use crate::emulator::{Emulator, EmulatorError, Namespace, Path};
use crate::sim::input;
use crate::{Result, Row, Update};

const CHANNELS: [&str; 3] = ["rand0", "rand10", "rand20"];
const CONTENDERS: [Contender; 4] =
    [Contender::Tcp, Contender::Udp, Contender::Fec(3), Contender::Groupwire];
const ROUND_TRIP: Duration = Duration::from_millis(50);
const DEADLINE: Duration = Duration::from_millis(250);
const TARGET: f64 = 0.05;
/// Messages per run: ten minutes, or twenty seconds.
const MESSAGES: usize = 8000;
const QUICK_MESSAGES: usize = 250;
/// What is waited for after the last message.
const PATIENCE: Duration = Duration::from_secs(5);

/// Runs a few cells over real sockets and an emulated path, all at once, in real time: for each the row of the sockets
/// and then the one of the simulation.
///
/// # Errors
/// Recordings that cannot be read, sockets that fail.
pub(crate) fn run_real(
    namespace: &Namespace,
    options: &Options,
    tell: &mut dyn FnMut(Update),
) -> Result<()> {
    let usual = options.common.quick_or(QUICK_MESSAGES, MESSAGES);
    let count = options.messages.map_or(usual, |count| count as usize);
    let input = Input::of(options)?.updates(options.common.seed, count);
    let runs: Vec<(Cell, Contender)> = CHANNELS
        .iter()
        .flat_map(|channel| CONTENDERS.iter().map(move |contender| (cell(channel), *contender)))
        .collect();
    let paths: Vec<Path> = runs
        .iter()
        .map(|(cell, _)| Path::symmetric(cell.link(0), cell.round_trip, options.common.seed))
        .collect();
    let emulator = Emulator::start(namespace, &paths)?;
    let (total, what) = (runs.len(), "sockets".to_owned());
    tell(Update::Progress { done: 0, total, what });

    let outcomes: Vec<std::result::Result<Outcome, EmulatorError>> = thread::scope(|scope| {
        let threads: Vec<_> = (0..)
            .zip(&runs)
            .map(|(client, (cell, contender))| {
                let (input, emulator) = (&input, &emulator);
                scope.spawn(move || {
                    let path = (emulator, client);
                    match contender.scheme() {
                        None => measure(path, &Plain(Carrier::Tcp), input, PATIENCE),
                        Some(scheme) => measure(path, &Ends { scheme, cell }, input, PATIENCE),
                    }
                })
            })
            .collect();
        threads.into_iter().map(|one| one.join().expect("a run does not panic")).collect()
    });

    let rows = |real: bool, logs: &[Log]| -> Vec<Row> {
        let mut rows = Vec::new();
        for ((cell, contender), log) in runs.iter().zip(logs) {
            let plain = runs
                .iter()
                .zip(logs)
                .find(|((one, contender), _)| one == cell && *contender == Contender::Udp);
            let plain = plain.map_or(1.0, |(_, log)| log.figures(0, None).bytes_per_message);
            let figures = log.figures(warm_up(count), None);
            let scheme = (Part::Grid, contender.to_string());
            let row = row(scheme, cell, (log, figures), plain, &options.common);
            rows.push(row.with("real", real));
        }
        rows
    };
    let mut real = Vec::new();
    for ((cell, _), outcome) in runs.iter().zip(outcomes) {
        real.push(log(cell, &input, &outcome?));
    }
    let simulated: Vec<Log> = runs
        .iter()
        .map(|(cell, contender)| {
            let scheme = contender.scheme().unwrap_or(end::Scheme::PLAIN);
            let setup = Setup {
                scheme,
                price: None,
                input: &input,
                seed: options.common.seed,
                closely: false,
            };
            contender.run(cell, &setup)
        })
        .collect();
    for (one, other) in rows(true, &real).into_iter().zip(rows(false, &simulated)) {
        tell(Update::Row(one));
        tell(Update::Row(other));
    }
    Ok(())
}

fn cell(channel: &str) -> Cell {
    Cell {
        loss: channel.parse().expect("it names a loss"),
        round_trip: ROUND_TRIP,
        deadline: DEADLINE,
        target: TARGET,
        link_kbit: None,
        relayed: false,
    }
}

/// What sockets did, as if simulated.
fn log(cell: &Cell, input: &[input::Update], outcome: &Outcome) -> Log {
    let mut log = Log::new(input, cell);
    for (message, latency) in log.messages.iter_mut().zip(&outcome.latencies) {
        message.1 = *latency;
    }
    log.bytes = outcome.wire_bytes() as f64;
    log.packets = outcome.forward.packets + outcome.back.packets;
    log
}

/// Both ends of a path.
struct Ends<'a> {
    scheme: end::Scheme,
    cell: &'a Cell,
}

impl Scheme for Ends<'_> {
    fn carrier(&self) -> Carrier {
        Carrier::Udp
    }

    fn ends(&self) -> (Box<dyn End>, Box<dyn End>) {
        let end = || {
            let endpoint = self.scheme.end(self.cell, None);
            Box::new(Live { endpoint, came: Vec::new(), now: Duration::ZERO })
        };
        (end(), end())
    }
}

struct Live {
    endpoint: Endpoint,
    came: Vec<Vec<u8>>,
    /// Of the last call: what is due depends on it.
    now: Duration,
}

impl End for Live {
    fn send(&mut self, now: Duration, message: &[u8]) {
        self.now = now;
        self.endpoint.send(now, Duration::ZERO, message);
    }

    fn receive(&mut self, now: Duration, packet: &[u8]) {
        self.now = now;
        let came = &mut self.came;
        let received = self.endpoint.receive(now, packet, |_, payload| came.push(payload.to_vec()));
        debug_assert_eq!(received, Ok(()), "nothing forges packets here");
    }

    fn poll(&mut self, now: Duration) -> Option<Output> {
        self.now = now;
        self.endpoint.expire(now);
        if !self.came.is_empty() {
            return Some(Output::Message(self.came.remove(0)));
        }
        let mut packet = Vec::new();
        self.endpoint.transmit(now, &mut packet).map(|_| Output::Packet(packet))
    }

    fn due(&self) -> Option<Duration> {
        self.endpoint.timeout(self.now)
    }
}
