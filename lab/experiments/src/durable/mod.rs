//! The experiment `durable`: rooms that outlive their server. What does a confirmation take, what
//! does storing cost, is anything lost when the server is killed, and how soon is it back?
//!
//! Servers are processes of their own, as users run them; people are native clients in this one.
//! Every transaction that came to anybody is compared with the room's order.
//!
//! lab/README.md says what each figure means.

pub(crate) mod bare;
pub(crate) mod kill;
pub(crate) mod listener;
pub(crate) mod load;
pub(crate) mod people;
pub(crate) mod row;
mod start;
pub(crate) mod texts;
pub(crate) mod verdict;

use std::cell::Cell;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::options::{Common, Program, between, is_wanted, named, or_usual};
use crate::server::allow_files;
use crate::{Result, Update};
use load::Load;
use start::Content;

/// The parts of the experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Many rooms in which everybody writes.
    Load,
    /// One room of many people, of whom few write.
    Crowd,
    /// A server that is killed again and again.
    Kill,
    /// The start with many stored rooms.
    Rooms,
    /// The start with a large log.
    Log,
}

named!(Part);

impl Part {
    /// The fault of the server, for the field `fault` of rows.
    fn fault(self) -> &'static str {
        match self {
            Part::Load | Part::Crowd => "none",
            Part::Kill | Part::Rooms | Part::Log => "kill",
        }
    }
}

/// The failures that a confirmed transaction survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
enum Mode {
    /// No failure: rooms end with the server.
    Memory,
    /// The end of the server, and of its machine.
    Local,
}

named!(Mode);

/// The time before the measurement, in which compression learns.
const WARM_UP: Duration = Duration::from_secs(3);
const QUICK_WARM_UP: Duration = Duration::from_millis(500);
const QUICK_MEASURED: Duration = Duration::from_millis(1500);

/// The options of `groupwire-lab durable`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Run only these parts.
    #[arg(long = "part", value_name = "NAME")]
    parts: Vec<Part>,

    /// Run the parts load and crowd only in these modes.
    #[arg(long = "mode", value_name = "NAME")]
    modes: Vec<Mode>,

    /// The number of rooms of the part load.
    #[arg(long, value_name = "COUNT", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=5000))]
    rooms: u32,

    /// Transactions per second of the part load, in all rooms together.
    #[arg(long, value_name = "HZ", default_value_t = 1000.0, value_parser = between(1.0, 100_000.0))]
    rate: f64,

    /// The number of people in the room of the part crowd.
    #[arg(long, value_name = "COUNT", default_value_t = 500, value_parser = clap::value_parser!(u32).range(10..=10_000))]
    people: u32,

    /// The size of a transaction, in bytes.
    #[arg(long, value_name = "BYTES", default_value_t = 150, value_parser = size)]
    bytes: usize,

    /// The time for which the server collects messages before sending, in ms.
    #[arg(long, value_name = "MS", default_value_t = 40, value_parser = clap::value_parser!(u64).range(0..=1000))]
    tick: u64,

    /// The duration of each run of the parts load and crowd.
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, value_parser = between(0.1, 3600.0))]
    seconds: f64,

    /// The number of runs in each mode of the parts load and crowd; rows have the medians.
    #[arg(long, value_name = "COUNT", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repetitions: u32,

    /// How often the server of the part kill is killed.
    #[arg(long, value_name = "COUNT", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    rounds: u32,

    /// The number of stored rooms of the part rooms.
    #[arg(long, value_name = "COUNT", default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    stored: u32,

    /// The size of the log of the part log, in MiB.
    #[arg(long, value_name = "MIB", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..=8192))]
    log: u32,

    /// The directory in which rooms are stored while it is measured: its disk is measured, too.
    /// Default: that of temporary files.
    #[arg(long, value_name = "DIRECTORY")]
    data: Option<PathBuf>,

    #[command(flatten)]
    program: Program,

    #[command(flatten)]
    pub(crate) common: Common,
}

/// A parser of sizes of transactions.
pub(crate) fn size(text: &str) -> std::result::Result<usize, String> {
    let size = text.parse().ok().filter(|size| (64..=16_384).contains(size));
    size.ok_or_else(|| "it must be a number from 64 to 16384".to_owned())
}

/// The settings that all parts share.
struct Plan<'a> {
    options: &'a Options,
    program: PathBuf,
    data: PathBuf,
    modes: Vec<Mode>,
    warm_up: Duration,
    measured: Duration,
    repetitions: u32,
    rounds: u32,
    begun: Cell<usize>,
    /// The approximate number of runs.
    total: usize,
}

impl Plan<'_> {
    /// Reports that a run begins.
    fn begun(&self, emit: &mut dyn FnMut(Update), what: String) {
        let done = self.begun.replace(self.begun.get() + 1);
        emit(Update::Progress { done, total: self.total, what });
    }
}

/// Runs the experiment.
///
/// # Errors
/// Nothing can be measured.
pub(crate) fn run(options: &Options, emit: &mut dyn FnMut(Update)) -> Result<()> {
    allow_files();
    let common = options.common;
    let is_wanted = |part| is_wanted(&options.parts, &part);
    let modes = or_usual(&options.modes, &[Mode::Memory, Mode::Local]);
    let repetitions = common.quick_or(1, options.repetitions);
    let (load, crowd) = (is_wanted(Part::Load), is_wanted(Part::Crowd));
    let loads = (usize::from(load) + usize::from(crowd)) * modes.len() * repetitions as usize;
    let starts = usize::from(is_wanted(Part::Rooms)) + usize::from(is_wanted(Part::Log));
    let plan = Plan {
        options,
        program: options.program.path()?,
        data: options.data.clone().unwrap_or_else(std::env::temp_dir),
        modes,
        warm_up: common.quick_or(QUICK_WARM_UP, WARM_UP),
        measured: common.quick_or(QUICK_MEASURED, Duration::from_secs_f64(options.seconds)),
        repetitions,
        rounds: common.quick_or(options.rounds.min(3), options.rounds),
        begun: Cell::new(0),
        total: loads + usize::from(is_wanted(Part::Kill)) + 2 * starts,
    };
    let rate = options.rate;
    if load {
        let everybody =
            Load { part: Part::Load, rooms: options.rooms, people: 4, writers: 4, rate };
        load::measure(&everybody, &plan, emit)?;
    }
    if crowd {
        let few =
            Load { part: Part::Crowd, rooms: 1, people: options.people, writers: 10, rate: 100.0 };
        load::measure(&few, &plan, emit)?;
    }
    if is_wanted(Part::Kill) {
        let row = kill::measure(&plan, emit)?;
        emit(Update::Row(row));
    }
    let stored = common.quick_or(options.stored.min(5_000), options.stored) as usize;
    let mib = common.quick_or(options.log.min(32), options.log) as usize;
    for content in [Content::rooms(stored), Content::log(mib, options.bytes)] {
        if is_wanted(content.part) {
            let row = start::measure(content, &plan, emit)?;
            emit(Update::Row(row));
        }
    }
    Ok(())
}
