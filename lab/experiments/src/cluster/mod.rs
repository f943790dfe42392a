//! The experiment `cluster`: three servers that share their rooms over an engine. How long do
//! confirmations take, how soon are people back when servers end, and what does it cost that
//! people are connected to another server than the one that has their room?
//!
//! The servers, those of ours and those of NATS, are processes of their own; all clients are in
//! this one. What everybody received is compared.
//!
//! lab/README.md says what each figure means.

mod awareness;
mod balancer;
mod confirm;
mod deliveries;
mod deployment;
mod edges;
mod faults;
mod joins;
mod large;
mod member;
mod nats;
mod row;
mod transactions;
mod usage;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::durable::size;
use crate::options::{Common, Program, between, is_wanted, named, or_usual};
use crate::program::installed;
use crate::server::allow_files;
use crate::{Result, Update, parallel};
use usage::Times;

/// The parts of the experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// How long transactions take until they are confirmed.
    Confirm,
    /// The server that has the rooms is killed.
    KillOwner,
    /// That server and the NATS server that leads most streams are killed at the same time.
    KillLeader,
    /// The server that has the rooms is stopped (SIGTERM).
    Drain,
    /// The server that has the rooms is paused.
    Pause,
    /// Deliveries of awareness in a room of many.
    Awareness,
    /// Deliveries of transactions in a room of many.
    Transactions,
    /// Deliveries of transactions in many rooms of few.
    Rooms,
    /// What further people behind other servers cost the owner.
    Edges,
    /// Joins.
    Joins,
    /// One room of very many people.
    Large,
}

named!(Part);

impl Part {
    /// The fault, for the field `fault` of rows.
    fn fault(self) -> &'static str {
        match self {
            Part::KillOwner => "kill-owner",
            Part::KillLeader => "kill-leader",
            Part::Drain => "drain",
            Part::Pause => "pause",
            _ => "none",
        }
    }

    /// The time after which all people should be confirmed again, in seconds.
    fn goal_s(self) -> Option<f64> {
        match self {
            Part::KillOwner => Some(5.0),
            Part::KillLeader => Some(12.0),
            Part::Drain => Some(1.0),
            _ => None,
        }
    }
}

/// What keeps the rooms for all servers.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Engine {
    /// Three NATS servers of this experiment.
    Nats,
    /// One that runs at this address.
    At(String),
}

impl Engine {
    fn read(text: &str) -> std::result::Result<Engine, String> {
        match text {
            "nats" => Ok(Engine::Nats),
            _ if text.contains("://") => Ok(Engine::At(text.to_owned())),
            _ => Err("it must be nats, or an address such as postgres://USER@HOST:PORT/DATABASE"
                .to_owned()),
        }
    }

    /// The name in rows.
    fn name(&self) -> &str {
        match self {
            Engine::Nats => "nats",
            Engine::At(address) => address.split_once("://").map_or("", |(scheme, _)| scheme),
        }
    }
}

impl std::fmt::Display for Engine {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.name())
    }
}

const NATS_MISSING: &str =
    "there is no nats-server on PATH: scripts/nats.sh installs one and prints its path, for --nats";

/// The sizes of rooms of the part edges.
const SIZES: [usize; 3] = [500, 1000, 2000];
const QUICK_SIZES: [usize; 2] = [50, 100];
/// The sizes of the room of the part large.
const LARGE: [usize; 4] = [2000, 5000, 10_000, 20_000];
const QUICK_LARGE: [usize; 1] = [300];
/// Parts at a time in a quick experiment. They disturb each other.
const QUICK_PARTS: usize = 4;
const QUICK: Times = Times {
    calm: Duration::from_millis(250),
    warm_up: Duration::from_millis(300),
    measured: Duration::from_millis(700),
    silence: Duration::from_millis(300),
};

/// The options of `groupwire-lab cluster`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Run only these parts.
    #[arg(long = "part", value_name = "NAME")]
    parts: Vec<Part>,

    /// What keeps the rooms: nats, which stands for three servers that the experiment starts, or
    /// the address of an engine that runs, such as postgres://USER@HOST:PORT/DATABASE, in which it
    /// leaves its clusters behind. May be given several times.
    #[arg(long = "engine", value_name = "ENGINE", value_parser = Engine::read, default_value = "nats")]
    engines: Vec<Engine>,

    /// The nats-server program. Default: the one on PATH. scripts/nats.sh prints the path of one.
    #[arg(long, value_name = "FILE")]
    nats: Option<PathBuf>,

    /// The number of people in the room of the parts awareness and transactions.
    #[arg(long, value_name = "COUNT", default_value_t = 500, value_parser = clap::value_parser!(u32).range(50..=10_000))]
    people: u32,

    /// The number of rooms of the part rooms.
    #[arg(long, value_name = "COUNT", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=500))]
    rooms: u32,

    /// The number of people in the room of the part large. May be given several times. Default:
    /// 2000, 5000, 10000, 20000.
    #[arg(long, value_name = "COUNT")]
    large: Vec<usize>,

    /// The size of a transaction, in bytes.
    #[arg(long, value_name = "BYTES", default_value_t = 150, value_parser = size)]
    bytes: usize,

    /// The time for which servers collect messages before sending, in ms.
    #[arg(long, value_name = "MS", default_value_t = 40, value_parser = clap::value_parser!(u64).range(0..=1000))]
    tick: u64,

    /// The duration of each measurement.
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, value_parser = between(0.1, 3600.0))]
    seconds: f64,

    /// The number of runs of each way of deliveries and joins; rows have the medians.
    #[arg(long, value_name = "COUNT", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repetitions: u32,

    /// How often each fault is done.
    #[arg(long, value_name = "COUNT", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    rounds: u32,

    /// The directory for everything that is stored meanwhile: its disk is measured, too. Default:
    /// that of temporary files.
    #[arg(long, value_name = "DIRECTORY")]
    data: Option<PathBuf>,

    #[command(flatten)]
    program: Program,

    #[command(flatten)]
    pub(crate) common: Common,
}

/// The settings that all parts share.
struct Plan<'a> {
    options: &'a Options,
    program: PathBuf,
    /// The program of NATS; `None` if there is none.
    nats: Option<PathBuf>,
    data: PathBuf,
    times: Times,
    /// The shortest measurement of the part large.
    least_large: Duration,
    people: usize,
    rooms: usize,
    sizes: Vec<usize>,
    large: Vec<usize>,
    joins: usize,
    repetitions: u32,
    rounds: u32,
}

/// Runs the experiment.
///
/// # Errors
/// Nothing can be measured. A part that fails is reported as skipped.
pub(crate) fn run(options: &Options, emit: &mut dyn FnMut(Update)) -> Result<()> {
    allow_files();
    let plan = Plan::new(options)?;
    let mut jobs = Vec::new();
    for engine in &options.engines {
        let parts = Part::value_variants().iter();
        let parts = parts.filter(|part| is_wanted(&options.parts, *part));
        // Leaders of other engines are not known here.
        let parts = parts.filter(|part| **part != Part::KillLeader || *engine == Engine::Nats);
        jobs.extend(parts.map(|part| (engine, *part)));
    }
    let total = jobs.iter().map(|(_, part)| plan.runs(*part)).sum();
    let workers = options.common.quick_or(QUICK_PARTS, 1);
    let job = |_, (engine, part): &(&Engine, Part), emit: &mut dyn FnMut(Update)| {
        if let Err(why) = plan.measure(*part, engine, emit) {
            emit(Update::Skipped { what: format!("{engine}, {part}"), why: why.to_string() });
        }
    };
    parallel::run((&jobs, total), workers, &job, emit);
    Ok(())
}

impl Plan<'_> {
    fn new(options: &Options) -> Result<Plan<'_>> {
        let common = options.common;
        let full = Times {
            calm: Duration::from_secs(3),
            warm_up: Duration::from_secs(3),
            measured: Duration::from_secs_f64(options.seconds),
            silence: Duration::from_secs(1),
        };
        Ok(Plan {
            options,
            program: options.program.path()?,
            nats: options.nats.clone().or_else(|| installed(&["nats-server"])),
            data: options.data.clone().unwrap_or_else(std::env::temp_dir),
            times: common.quick_or(QUICK, full),
            least_large: common.quick_or(Duration::from_secs(2), Duration::from_secs(10)),
            people: common.quick_or(options.people.min(60), options.people) as usize,
            rooms: common.quick_or(options.rooms.min(5), options.rooms) as usize,
            sizes: common.quick_or(QUICK_SIZES.to_vec(), SIZES.to_vec()),
            large: common.quick_or(QUICK_LARGE.to_vec(), or_usual(&options.large, &LARGE)),
            joins: common.quick_or(60, 1000),
            repetitions: common.quick_or(1, options.repetitions),
            rounds: common.quick_or(1, options.rounds),
        })
    }

    /// About how many runs a part has.
    fn runs(&self, part: Part) -> usize {
        let repetitions = self.repetitions as usize;
        match part {
            Part::KillOwner | Part::KillLeader | Part::Drain | Part::Pause => 1,
            Part::Confirm => 4,
            Part::Awareness | Part::Transactions | Part::Rooms => 3 * repetitions,
            Part::Edges => 3 * self.sizes.len() * repetitions,
            Part::Joins => 4 * repetitions,
            Part::Large => self.large.len(),
        }
    }

    fn measure(&self, part: Part, engine: &Engine, emit: &mut dyn FnMut(Update)) -> Result<()> {
        match part {
            Part::Confirm => confirm::measure(engine, self, emit),
            Part::KillOwner | Part::KillLeader | Part::Drain | Part::Pause => {
                let row = faults::measure(part, engine, self, emit)?;
                emit(Update::Row(row));
                Ok(())
            }
            Part::Awareness | Part::Transactions | Part::Rooms => {
                deliveries::measure(part, engine, self, emit)
            }
            Part::Edges => edges::measure(engine, self, emit),
            Part::Joins => joins::measure(engine, self, emit),
            Part::Large => large::measure(engine, self, emit),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_is_ours_or_at_an_address() {
        assert_eq!(Engine::read("nats"), Ok(Engine::Nats));
        let at = Engine::read("postgres://me@localhost/rooms").unwrap();
        assert_eq!(at.name(), "postgres");
        assert!(Engine::read("redis").unwrap_err().contains("postgres://"));
    }
}
