//! Runs a few cells over real sockets, and the same cells in the simulation.

use std::thread;
use std::time::Duration;

use super::cell::Cell;
use super::contender::Contender;
use super::end::{self, Endpoint};
use super::pair::Setup;
use super::plan::Way;
use super::real::{Carrier, End, Outcome, Output, Plain, Scheme, measure};
use super::row::{Part, row};
use super::run::Log;
use super::{Input, Options, warm_up};
use crate::emulator::{Emulator, EmulatorError, Namespace, Path};
use crate::options::or_usual;
use crate::sim::input;
use crate::{Result, Row, Update};

const CHANNELS: [&str; 3] = ["rand0", "rand10", "rand20"];
const CONTENDERS: [Contender; 4] =
    [Contender::Tcp, Contender::Udp, Contender::Fec(3), Contender::Groupwire];
const WAY: Way =
    Way { round_trip: Duration::from_millis(50), deadline: Duration::from_millis(250) };
/// The default of Linux, even if this machine has another.
const CONGESTION: &str = "cubic";
const TARGET: f64 = 0.05;
/// Messages per run: ten minutes, or twenty seconds.
const MESSAGES: usize = 8000;
const QUICK_MESSAGES: usize = 250;
/// The wait for packets after the last message.
const PATIENCE: Duration = Duration::from_secs(5);

/// Runs a few cells over real sockets and an emulated path, all at once, in real time: for each the
/// row of the sockets and then the one of the simulation.
///
/// # Errors
/// Recordings that cannot be read, sockets that fail.
pub(crate) fn run_real(
    namespace: &Namespace,
    options: &Options,
    emit: &mut dyn FnMut(Update),
) -> Result<()> {
    let usual = options.common.quick_or(QUICK_MESSAGES, MESSAGES);
    let count = options.messages.map_or(usual, |count| count as usize);
    let input = Input::of(options)?.updates(options.common.seed, count);
    let runs = runs(options);
    let congestion = options.congestion.as_deref().unwrap_or(CONGESTION);
    let seeds: Vec<u64> = (0..u64::from(options.seeds.unwrap_or(1)))
        .map(|number| options.common.seed + number)
        .collect();
    // Each seed of each run has a path of its own.
    let path = |(cell, seed): (&Cell, u64)| Path::symmetric(cell.link(0), cell.round_trip, seed);
    let paths = runs.iter().flat_map(|(cell, _)| seeds.iter().map(move |seed| (cell, *seed)));
    let paths: Vec<Path> = paths.map(path).collect();
    let emulator = Emulator::start(namespace, &paths)?;
    let (total, what) = (runs.len(), "sockets".to_owned());
    emit(Update::Progress { done: 0, total, what });

    let outcomes: Vec<std::result::Result<Outcome, EmulatorError>> = thread::scope(|scope| {
        let threads: Vec<_> = (0..paths.len())
            .map(|client| {
                let (cell, contender) = &runs[client / seeds.len()];
                let (input, emulator) = (&input, &emulator);
                scope.spawn(move || {
                    let path = (emulator, client);
                    match contender.scheme() {
                        None => measure(path, &Plain(Carrier::Tcp), input, (PATIENCE, congestion)),
                        Some(scheme) => {
                            measure(path, &Ends { scheme, cell }, input, (PATIENCE, congestion))
                        }
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
            let figures = log.figures(warm_up(count) * seeds.len(), None);
            let scheme = (Part::Grid, contender.to_string());
            let row = row(scheme, cell, (log, figures), plain, &options.common);
            let is_tcp = real && *contender == Contender::Tcp;
            let row = row.with("real", real).with("congestion", is_tcp.then_some(congestion));
            rows.push(row.with("messages", count).with("seeds", seeds.len()));
        }
        rows
    };
    let mut real = Vec::new();
    let mut outcomes = outcomes.into_iter();
    for (cell, _) in &runs {
        let of_seeds = outcomes.by_ref().take(seeds.len());
        let logs = of_seeds.map(|outcome| Ok(log(cell, &input, &outcome?)));
        real.push(together(logs.collect::<Result<_>>()?, warm_up(count)));
    }
    let simulated: Vec<Log> = runs
        .iter()
        .map(|(cell, contender)| {
            let scheme = contender.scheme().unwrap_or(end::Scheme::PLAIN);
            let setup = |seed| Setup { scheme, price: None, input: &input, seed, closely: false };
            let logs = seeds.iter().map(|seed| contender.run(cell, &setup(*seed)));
            together(logs.collect(), warm_up(count))
        })
        .collect();
    for (one, other) in rows(true, &real).into_iter().zip(rows(false, &simulated)) {
        emit(Update::Row(one));
        emit(Update::Row(other));
    }
    Ok(())
}

/// The runs: each scheme on each channel and path.
fn runs(options: &Options) -> Vec<(Cell, Contender)> {
    let channels = CHANNELS.map(|channel| channel.parse().expect("it names a loss"));
    let (channels, ways) =
        (or_usual(&options.channels, &channels), or_usual(&options.ways, &[WAY]));
    let contenders = or_usual(&options.schemes, &CONTENDERS);
    let cells = ways.iter().flat_map(|way| channels.iter().map(|loss| way.cell(loss, TARGET)));
    cells.flat_map(|cell| contenders.iter().map(move |one| (cell.clone(), *one))).collect()
}

/// Joins the logs of several seeds into one. It begins with the first `skip` messages of each.
fn together(logs: Vec<Log>, skip: usize) -> Log {
    let mut logs = logs.into_iter();
    let Some(mut all) = logs.next() else { return Log::default() };
    let mut rest = all.messages.split_off(skip);
    for mut log in logs {
        rest.extend(log.messages.split_off(skip));
        all.messages.append(&mut log.messages);
        all.bytes += log.bytes;
        all.packets += log.packets;
        all.failure = all.failure.or(log.failure);
    }
    all.messages.append(&mut rest);
    all
}

/// The log of a run over sockets, in the form of the simulation's.
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
    /// The time of the last call, because the next deadline depends on it.
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
