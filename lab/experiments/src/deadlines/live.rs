//! Runs cells over real sockets, and those of the part grid in the simulation, too.

use std::collections::VecDeque;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::cell::{Cell, Judged};
use super::contender::Contender;
use super::end::{self, Endpoint};
use super::pair::Setup;
use super::paper::judged;
use super::plan::{Way, paper_cells};
use super::real::{Carrier, End, Outcome, Output, Plain, Scheme, measure};
use super::row::{Part, row_of_seeds};
use super::run::Log;
use super::{Input, Options, warm_up};
use crate::emulator::{Emulator, EmulatorError, MAX_CLIENTS, Namespace, Path};
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
pub(super) const TARGET: f64 = 0.05;
/// Messages per run: ten minutes, or twenty seconds.
const MESSAGES: usize = 8000;
const QUICK_MESSAGES: usize = 250;
/// The wait for packets after the last message, in the part grid and in quick experiments.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);
/// The same in the part paper: TCP takes long to get what it owes through a narrow and lossy link.
const LONG_PATIENCE: Duration = Duration::from_secs(60);

/// How many messages go over a real path, and which.
///
/// # Errors
/// Recordings that cannot be read.
pub(super) fn messages(options: &Options) -> Result<(usize, Arc<[input::Update]>)> {
    let usual = options.common.quick_or(QUICK_MESSAGES, MESSAGES);
    let count = options.messages.map_or(usual, |count| count as usize);
    Ok((count, Input::of(options)?.updates(options.common.seed, count)))
}

/// What runs over one path, or over one for each seed.
struct Run {
    cell: Cell,
    contender: Contender,
}

/// Runs a few cells over real sockets and an emulated path, in real time and as many at a time as
/// the emulator has clients: for each the row of the sockets and then, but in the part paper, the
/// one of the simulation.
///
/// # Errors
/// Recordings that cannot be read, sockets that fail, a part that does not go over sockets.
pub(crate) fn run_real(
    namespace: &Namespace,
    options: &Options,
    emit: &mut dyn FnMut(Update),
) -> Result<()> {
    let (count, input) = messages(options)?;
    let seeds: Vec<u64> = (0..u64::from(options.seeds.unwrap_or(1)))
        .map(|number| options.common.seed + number)
        .collect();
    for (part, runs) in parts(options)? {
        let real = over_sockets(namespace, (part, &runs), (&input, &seeds), options, emit)?;
        // The part paper has these rows without sockets, with more seeds.
        let again = if part == Part::Paper { &[][..] } else { &runs };
        let simulated = again.iter().map(|run| run.simulated(&input, &seeds)).collect();
        let rows = |real: bool, logs: Vec<Vec<Log>>| -> Vec<Row> {
            let plain = plain_bytes(&runs, &logs);
            let all = runs.iter().zip(logs).zip(plain);
            let row = all.map(|((run, logs), plain)| {
                let scheme = (part, run.contender.to_string());
                let logs = (logs, warm_up(count));
                let row = row_of_seeds(scheme, &run.cell, logs, plain, &options.common);
                let is_tcp = real && run.contender == Contender::Tcp;
                let congestion = is_tcp.then(|| congestion(options));
                row.with("real", real).with("congestion", congestion)
            });
            row.collect()
        };
        let mut simulated = rows(false, simulated).into_iter();
        for row in rows(true, real) {
            emit(Update::Row(row));
            simulated.next().into_iter().for_each(|row| emit(Update::Row(row)));
        }
    }
    Ok(())
}

/// The runs of each part that was asked for: each scheme on each channel and path.
fn parts(options: &Options) -> Result<Vec<(Part, Vec<Run>)>> {
    let parts = or_usual(&options.parts, &[Part::Grid]);
    let runs = |part: &Part| -> Result<(Part, Vec<Run>)> {
        match part {
            Part::Grid => Ok((Part::Grid, grid(options))),
            Part::Paper => Ok((Part::Paper, paper(options))),
            other => Err(format!(
                "the part {other} does not go over real sockets: there are grid and paper"
            )
            .into()),
        }
    };
    parts.iter().map(runs).collect()
}

fn grid(options: &Options) -> Vec<Run> {
    let channels = CHANNELS.map(|channel| channel.parse().expect("it names a loss"));
    let (channels, ways) =
        (or_usual(&options.channels, &channels), or_usual(&options.ways, &[WAY]));
    let contenders = or_usual(&options.schemes, &CONTENDERS);
    let cells = ways.iter().flat_map(|way| channels.iter().map(|loss| way.cell(loss, TARGET)));
    let of_cell =
        |cell: Cell| contenders.iter().map(move |one| Run { cell: cell.clone(), contender: *one });
    cells.flat_map(of_cell).collect()
}

fn paper(options: &Options) -> Vec<Run> {
    let contenders = judged(&or_usual(&options.schemes, &Contender::ALL));
    let of_cell = |cell: Cell| {
        let run = move |(contender, judged): &(Contender, Judged)| Run {
            cell: Cell { judged: *judged, ..cell.clone() },
            contender: *contender,
        };
        contenders.iter().map(run)
    };
    paper_cells(&options.channels).flat_map(of_cell).collect()
}

fn congestion(options: &Options) -> &str {
    options.congestion.as_deref().unwrap_or(CONGESTION)
}

/// The logs of each run, one for each seed. Each seed of each run has paths of its own.
fn over_sockets(
    namespace: &Namespace,
    (part, runs): (Part, &[Run]),
    (input, seeds): (&Arc<[input::Update]>, &[u64]),
    options: &Options,
    emit: &mut dyn FnMut(Update),
) -> Result<Vec<Vec<Log>>> {
    let all: Vec<(&Run, u64)> =
        runs.iter().flat_map(|run| seeds.iter().map(move |seed| (run, *seed))).collect();
    let hops = runs.first().map_or(1, |run| run.cell.hops());
    let patience = match part {
        Part::Paper => options.common.quick_or(PATIENCE, LONG_PATIENCE),
        _ => PATIENCE,
    };
    // Batches of about the same size, so that the machine has about as much to do in each.
    let batches = all.len().div_ceil(MAX_CLIENTS / hops).max(1);
    let mut logs = Vec::new();
    for (nth, batch) in all.chunks(all.len().div_ceil(batches).max(1)).enumerate() {
        let what = format!("{part} over sockets, {} runs at a time", batch.len());
        emit(Update::Progress { done: nth, total: batches, what });
        let paths: Vec<Path> = batch.iter().flat_map(|(run, seed)| run.paths(*seed)).collect();
        let emulator = Emulator::start(namespace, &paths)?;
        let outcomes: Vec<std::result::Result<Outcome, EmulatorError>> = thread::scope(|scope| {
            let threads: Vec<_> = (0..batch.len())
                .map(|nth| {
                    let (run, emulator) = (batch[nth].0, &emulator);
                    let patience = (patience, congestion(options));
                    let range = nth * hops..(nth + 1) * hops;
                    let clients: Vec<(usize, Path)> =
                        range.clone().zip(paths[range].iter().cloned()).collect();
                    scope.spawn(move || {
                        let clients = (emulator, &clients[..]);
                        match run.contender.scheme() {
                            None => measure(clients, &Plain(Carrier::Tcp), input, patience),
                            Some(scheme) => {
                                let ends = Ends { scheme, cell: &run.cell };
                                measure(clients, &ends, input, patience)
                            }
                        }
                    })
                })
                .collect();
            threads.into_iter().map(|one| one.join().expect("a run does not panic")).collect()
        });
        for ((run, _), outcome) in batch.iter().zip(outcomes) {
            logs.push(log(&run.cell, input, &outcome?));
        }
    }
    Ok(logs.chunks(seeds.len().max(1)).map(<[Log]>::to_vec).collect())
}

impl Run {
    /// The path of each hop.
    fn paths(&self, seed: u64) -> impl Iterator<Item = Path> {
        let hops = self.cell.hops();
        let round_trip = self.cell.round_trip / hops as u32;
        (0..hops).map(move |hop| Path::symmetric(self.cell.link(hop), round_trip, seed))
    }

    fn simulated(&self, input: &Arc<[input::Update]>, seeds: &[u64]) -> Vec<Log> {
        let scheme = self.contender.scheme().unwrap_or(end::Scheme::PLAIN);
        let setup = |seed| Setup { scheme, price: None, input, seed, timed: false };
        seeds.iter().map(|seed| self.contender.run(&self.cell, &setup(*seed))).collect()
    }
}

/// For each run the bytes per message of plain UDP on the same path; 1 if UDP was not run there.
fn plain_bytes(runs: &[Run], logs: &[Vec<Log>]) -> Vec<f64> {
    let of_path = |cell: &Cell| {
        let mut udp = runs.iter().zip(logs).filter(|(run, _)| run.contender == Contender::Udp);
        let is_same = |one: &Cell| Cell { judged: cell.judged, ..one.clone() } == *cell;
        let found = udp.find(|(run, _)| is_same(&run.cell));
        found.map(|(_, logs)| Log::together(logs.clone(), 0).figures(0, None).bytes_per_message)
    };
    runs.iter().map(|run| of_path(&run.cell).unwrap_or(1.0)).collect()
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

/// The ends of each leg.
pub(super) struct Ends<'a> {
    pub(super) scheme: end::Scheme,
    pub(super) cell: &'a Cell,
}

impl Scheme for Ends<'_> {
    fn carrier(&self) -> Carrier {
        Carrier::Udp
    }

    fn end(&self) -> Box<dyn End> {
        let endpoint = self.scheme.end(self.cell, None);
        Box::new(Live { endpoint, came: VecDeque::new(), now: Duration::ZERO })
    }
}

struct Live {
    endpoint: Endpoint,
    came: VecDeque<(Duration, Vec<u8>)>,
    /// The time of the last call, because the next deadline depends on it.
    now: Duration,
}

impl End for Live {
    fn send(&mut self, now: Duration, age: Duration, message: &[u8]) {
        self.now = now;
        self.endpoint.send(now, age, message);
    }

    fn receive(&mut self, now: Duration, packet: &[u8]) {
        self.now = now;
        let came = &mut self.came;
        let deliver = |age, payload: &[u8]| came.push_back((age, payload.to_vec()));
        let received = self.endpoint.receive(now, packet, deliver);
        debug_assert_eq!(received, Ok(()), "nothing forges packets here");
    }

    fn poll(&mut self, now: Duration) -> Option<Output> {
        self.now = now;
        self.endpoint.expire(now);
        if let Some((age, message)) = self.came.pop_front() {
            return Some(Output::Message(age, message));
        }
        let mut packet = Vec::new();
        self.endpoint.transmit(now, &mut packet).map(|_| Output::Packet(packet))
    }

    fn due(&self) -> Option<Duration> {
        self.endpoint.timeout(self.now)
    }
}
