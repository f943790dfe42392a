//! The experiment `afec`: which share of messages misses its deadline, and what holding a target
//! costs, for every scheme on every channel, in simulated time.
//!
//! All schemes send the same messages over paths that lose the n-th packet by the same random
//! numbers. lab/README.md says how each scheme, channel and part is set up.

mod cell;
mod conditions;
mod contender;
mod end;
pub(crate) mod far;
mod live;
mod pair;
mod paper;
mod plan;
mod real;
mod row;
mod run;
mod search;
mod series;
mod steps;
mod stream;
mod traffic;

#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use groupwire_afec::code::{Code, Repeat};

use crate::emulator::Namespace;
use crate::far::Access;
use crate::options::{Common, Threads, between, is_wanted};
use crate::recordings::files;
use crate::sim::Loss;
use crate::sim::input::{self, generated, joined, recorded};
use crate::{Result, Update, parallel};
use contender::Contender;
use plan::{Job, Way};
use row::Part;
use run::WINDOW;

/// Messages per run: 100 windows of 1000, after the warm-up.
const MESSAGES: usize = 101_000;
/// Messages per run of a quick experiment: a window, after as many messages as schemes need to
/// settle at the least.
const QUICK_MESSAGES: usize = 1250;

/// The options of `groupwire-lab afec`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Run only these parts.
    #[arg(long = "part", value_name = "NAME")]
    parts: Vec<Part>,

    /// Run only these channels, such as rand10, pb5@4, ge10b3, out80, step0-20.
    #[arg(long = "channel", value_name = "NAME")]
    channels: Vec<Loss>,

    /// Run only these schemes.
    #[arg(long = "scheme", value_name = "NAME")]
    schemes: Vec<Contender>,

    /// Run only these round trips and deadlines in ms, such as 50/250.
    #[arg(long = "path", value_name = "MS/MS")]
    ways: Vec<Way>,

    /// Run only these targets: the percentage of messages that may miss their deadline.
    #[arg(long = "target", value_name = "PERCENT", value_parser = between(0.0, 100.0))]
    percents: Vec<f64>,

    /// The number of messages of each run. Default: 101,000, and 21,000 in the part paper.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(100..=10_000_000))]
    messages: Option<u32>,

    /// The number of runs of each step, 200 by default, of each cell of the part paper, 5 by
    /// default, or of each cell over real sockets, 1 by default.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    seeds: Option<u32>,

    /// Send the motion of these recordings (*.csv, *.csv.gz) instead of a generated one.
    #[arg(long, value_name = "DIRECTORY")]
    mouse: Option<PathBuf>,

    /// Write time series of the part paper to this directory.
    #[arg(long, value_name = "DIRECTORY")]
    series: Option<PathBuf>,

    /// Run a few cells over real sockets, each followed by the results of the simulation, or with
    /// --part paper those of the AFEC paper.
    #[arg(long, conflicts_with_all = ["percents", "series"])]
    real: bool,

    /// The congestion control of the kernel's TCP over real sockets. Default: cubic.
    #[arg(long, value_name = "NAME", requires = "real")]
    congestion: Option<String>,

    #[command(flatten)]
    far: Access,

    #[command(flatten)]
    threads: Threads,

    #[command(flatten)]
    pub(crate) common: Common,
}

/// Runs the experiment. Rows come in the same order each time.
///
/// # Errors
/// Recordings cannot be read, or there is no network for real sockets.
pub(crate) fn run(options: &Options, emit: &mut dyn FnMut(Update)) -> Result<()> {
    if options.far.is_asked_for() {
        return far::run_far(&options.far, options, emit);
    }
    if options.real {
        // Comes first, because it may start this program again in a network namespace.
        let namespace =
            Namespace::enter().map_err(|error| format!("no real sockets here: {error}"))?;
        return live::run_real(&namespace, options, emit);
    }
    if let Some(directory) = &options.series {
        std::fs::create_dir_all(directory)?;
    }
    let wanted = |one: &Contender| is_wanted(&options.schemes, one);
    let usual = Contender::ALL.into_iter().filter(wanted);
    let others = options.schemes.iter().copied().filter(|one| !Contender::ALL.contains(one));
    let contenders: Vec<Contender> = usual.chain(others).collect();
    let input = Input::of(options)?;
    let messages = input.updates(options.common.seed, options.messages(MESSAGES));
    let jobs = plan::jobs(options, &contenders);
    let total = jobs.iter().map(Job::runs).sum();
    let job = |_, job: &Job, emit: &mut dyn FnMut(Update)| {
        let mut begun = || emit(Update::begun(job));
        let rows = job.rows(&input, &messages, options, &mut begun);
        rows.into_iter().for_each(|row| emit(Update::Row(row)));
    };
    parallel::run((&jobs, total), options.threads.count(), &job, emit);
    Ok(())
}

impl Options {
    /// Messages per run, if `usual` is the number in an experiment that is not quick.
    fn messages(&self, usual: usize) -> usize {
        let usual = self.common.quick_or(QUICK_MESSAGES, usual);
        self.messages.map_or(usual, |count| count as usize)
    }

    /// Runs of each cell, unless stated: in a quick experiment, and otherwise.
    fn seeds(&self, quick: u64, usual: u64) -> u64 {
        self.seeds.map_or(self.common.quick_or(quick, usual), u64::from)
    }
}

/// The number of messages at the beginning that do not count, while adaptive schemes settle.
fn warm_up(messages: usize) -> usize {
    (messages / 5).min(WINDOW)
}

/// The messages that are sent: generated, or recorded.
#[derive(Debug)]
enum Input {
    Generated,
    Recorded(Vec<Vec<input::Update>>),
}

impl Input {
    fn of(options: &Options) -> Result<Self> {
        let Some(path) = &options.mouse else {
            return Ok(Input::Generated);
        };
        let files = files(path, ".csv")?;
        let recordings =
            files.iter().map(|file| recorded(file)).collect::<std::result::Result<Vec<_>, _>>()?;
        match recordings.iter().any(|one| !one.is_empty()) {
            true => Ok(Input::Recorded(recordings)),
            false => {
                let path = path.display();
                Err(format!("no recording (*.csv or *.csv.gz) in {path} has enough motion in it")
                    .into())
            }
        }
    }

    /// The updates of a seed, always the same.
    fn updates(&self, seed: u64, count: usize) -> Arc<[input::Update]> {
        match self {
            Input::Generated => generated(seed, count).into(),
            Input::Recorded(recordings) => {
                let mut recordings = recordings.clone();
                let from = (seed % recordings.len().max(1) as u64) as usize;
                recordings.rotate_left(from);
                joined(&recordings, count).into()
            }
        }
    }
}

/// A code for people: the packets back in which a message goes again, extra packets as +ms; the
/// share of messages for which another set is used; how many answers are sent if asked; whether the
/// end of a cluster is repeated.
fn code_name(code: &Code) -> String {
    let set = |repeats: &groupwire_afec::code::Repeats| {
        let one = |repeat| match repeat {
            Repeat::Piggyback(distance) => distance.to_string(),
            other => format!("{other:?}"),
        };
        let all: Vec<String> = repeats.iter().map(one).collect();
        if all.is_empty() { "plain".to_owned() } else { all.join(" ") }
    };
    let mut name = set(&code.repeats);
    if code.share > 0.0 {
        name.push_str(&format!(", {:.2} of it {}", code.share, set(&code.other)));
    }
    if code.answers > 0 {
        name.push_str(&format!(", ask {}", code.answers));
    }
    if code.tail_flush {
        name.push_str(", close");
    }
    name
}
