//! The experiment `afec`: which share of messages misses its deadline, and what holding a target costs, for every scheme
//! on every channel, in simulated time.
//!
//! All schemes send the same messages over paths that lose the n-th packet by the same random numbers. docs/lab.md says
//! how each scheme, channel and part is set up.
//!
//! ```
//! use groupwire_lab::afec::{self, Options, Part, Update};
//!
//! let options = Options {
//!     parts: vec![Part::Grid],
//!     channels: vec!["rand10".parse()?],
//!     ways: vec!["50/250".parse()?],
//!     targets: vec![0.05],
//!     schemes: vec!["udp".into(), "groupwire".into()],
//!     messages: Some(3000),
//!     ..Options::default()
//! };
//! let mut missed = Vec::new();
//! afec::run(&options, &mut |update| {
//!     if let Update::Row(row) = update {
//!         assert!(row.verified);
//!         missed.push(row.mer);
//!     }
//! })?;
//! assert!(missed[0] > 0.08 && missed[1] < 0.07);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cell;
mod conditions;
mod contender;
mod end;
mod live;
mod pair;
mod plan;
pub mod real;
mod row;
mod run;
mod search;
mod series;
mod steps;
mod stream;

#[cfg(test)]
mod tests;

pub use live::run_real;
pub use plan::Way;
pub use row::{Part, Row};

use std::collections::BTreeMap;
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread;

use groupwire_afec::code::{Code, Repeat};

use crate::sim::Loss;
use crate::sim::input::{self, generated, joined, recorded};
use contender::Contender;
use plan::Job;
use run::WINDOW;

/// Messages per run: 100 windows of 1000 after those that are left out.
const MESSAGES: usize = 101_000;
/// Of a quick experiment: a window, after as many messages as schemes need to settle at the least.
const QUICK_MESSAGES: usize = 1250;
/// Seeds of each step.
const SEEDS: u64 = 200;
/// Of a quick experiment.
const QUICK_SEEDS: u64 = 3;

/// What to measure.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Options {
    /// The parts; none for all.
    pub parts: Vec<Part>,
    /// The channels; none for all. In the parts grid and steps any loss that has a name.
    pub channels: Vec<Loss>,
    /// The schemes by name; none for all.
    pub schemes: Vec<String>,
    /// Round trips and deadlines of grid, steps and narrow; none for all.
    pub ways: Vec<Way>,
    /// Shares of messages that may miss, in the grid (where none means all) and in steps and narrow (5 % unless
    /// stated, and of several the first).
    pub targets: Vec<f64>,
    /// Messages per run, but not of steps.
    pub messages: Option<usize>,
    /// Of the network and the generated pointer.
    pub seed: u64,
    /// Runs of each step.
    pub seeds: Option<u64>,
    /// At most 30 seconds: every row, of fewer messages, with a coarser search.
    pub quick: bool,
    /// How many runs at a time; by default as many as there are cores.
    pub threads: Option<NonZero<usize>>,
    /// A directory of recorded pointers (`*.csv`, `*.csv.gz`) to send instead of a generated one.
    pub mouse: Option<PathBuf>,
    /// An existing directory for the time series of the part paper.
    pub series: Option<PathBuf>,
}

/// What there is to tell while the experiment runs. Nothing is skipped.
pub type Update = crate::Update<Row>;

/// Why there are no rows.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no such scheme.
    #[error("there is no scheme {name}; there are {known}")]
    Scheme {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// A recording cannot be read.
    #[error(transparent)]
    File(#[from] crate::trace::Error),
    /// The directory of recordings cannot be read.
    #[error("cannot read the directory {path:?}: {error}")]
    Directory {
        /// Which.
        path: PathBuf,
        /// Why not.
        error: std::io::Error,
    },
    /// The directory has no recordings in it.
    #[error("no recording (*.csv or *.csv.gz) in {path:?} has enough motion in it")]
    NoRecordings {
        /// Which.
        path: PathBuf,
    },
    /// Sockets failed, or the network that they need.
    #[error(transparent)]
    Emulator(#[from] crate::emulator::EmulatorError),
}

/// The names of all schemes, in the order of the rows.
pub fn schemes() -> Vec<String> {
    Contender::ALL.iter().map(Contender::to_string).collect()
}

/// Runs the experiment in simulated time, and tells `tell` how it goes. Rows come in the same order each time.
///
/// # Errors
/// A scheme that there is not, recordings that cannot be read.
pub fn run(options: &Options, tell: &mut dyn FnMut(Update)) -> Result<(), Error> {
    let contenders = chosen(options)?;
    let input = Input::of(options)?;
    let messages = input.updates(options.seed, messages(options));
    let seeds = options.seeds.unwrap_or(if options.quick { QUICK_SEEDS } else { SEEDS });
    let jobs = plan::jobs(options, &contenders);
    let total = jobs.iter().map(Job::runs).sum();
    let cores = || thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
    let threads = options.threads.unwrap_or_else(cores).get().min(jobs.len().max(1));

    let next = AtomicUsize::new(0);
    let (sender, receiver) = channel();
    thread::scope(|scope| {
        for _ in 0..threads {
            let (sender, jobs, next) = (sender.clone(), &jobs, &next);
            let (input, messages) = (&input, &messages);
            scope.spawn(move || {
                // The receiver is there for as long as any thread is, so sending does not fail.
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(place) else {
                        break;
                    };
                    let mut begun = || drop(sender.send((place, None)));
                    let rows = job.rows(input, messages, seeds, options, &mut begun);
                    drop(sender.send((place, Some(rows))));
                }
            });
        }
        drop(sender);
        // Rows wait for those of the jobs before theirs.
        let (mut done, mut shown, mut waiting) = (0, 0, BTreeMap::new());
        while let Ok((place, rows)) = receiver.recv() {
            match rows {
                None => {
                    let what = jobs[place].to_string();
                    tell(Update::Progress { done, total, what });
                    done += 1;
                }
                Some(rows) => {
                    waiting.insert(place, rows);
                }
            }
            while let Some(rows) = waiting.remove(&shown) {
                rows.into_iter().for_each(|row| tell(Update::Row(Box::new(row))));
                shown += 1;
            }
        }
    });
    Ok(())
}

/// Messages per run.
fn messages(options: &Options) -> usize {
    options.messages.unwrap_or(if options.quick { QUICK_MESSAGES } else { MESSAGES })
}

/// Messages that are left out of the figures, while schemes that adapt begin to.
fn warm_up(messages: usize) -> usize {
    (messages / 5).min(WINDOW)
}

fn chosen(options: &Options) -> Result<Vec<Contender>, Error> {
    let named = |name: &String| Contender::ALL.iter().find(|one| one.to_string() == *name);
    if let Some(name) = options.schemes.iter().find(|name| named(name).is_none()) {
        return Err(Error::Scheme { name: name.clone(), known: schemes().join(", ") });
    }
    let wanted = |one: &&Contender| {
        options.schemes.is_empty() || options.schemes.iter().any(|name| one.to_string() == *name)
    };
    Ok(Contender::ALL.iter().filter(wanted).copied().collect())
}

/// What is sent.
#[derive(Debug)]
enum Input {
    Generated,
    Recorded(Vec<Vec<input::Update>>),
}

impl Input {
    fn of(options: &Options) -> Result<Self, Error> {
        let Some(path) = &options.mouse else {
            return Ok(Input::Generated);
        };
        let unreadable = |error| Error::Directory { path: path.clone(), error };
        let mut files = Vec::new();
        for entry in path.read_dir().map_err(unreadable)? {
            let file = entry.map_err(unreadable)?.path();
            let name = file.to_string_lossy();
            if name.ends_with(".csv") || name.ends_with(".csv.gz") {
                files.push(file);
            }
        }
        files.sort();
        let recordings = files.iter().map(|file| recorded(file)).collect::<Result<Vec<_>, _>>()?;
        match recordings.iter().any(|one| !one.is_empty()) {
            true => Ok(Input::Recorded(recordings)),
            false => Err(Error::NoRecordings { path: path.clone() }),
        }
    }

    /// The same for the same seed.
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

/// A code for people: the packets back in which a message goes again, extra packets as +ms; the share of messages for
/// which another set is used; how many answers are sent if asked; whether the end of a cluster is repeated.
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
