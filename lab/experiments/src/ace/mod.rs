//! The experiment `ace`: which codec for which block of a stream, when, and what choosing gains (the paper ACE).
//!
//! docs/lab.md says what each figure means.

mod files;
mod fits;
mod model;
mod paper;
mod real;
mod row;
mod simulated;
mod stand_in;
mod tunnel;

pub use files::{Files, Sample};
pub use real::{DUMMY, dummy};
pub use row::{Fit, Part, Row};

use std::path::PathBuf;

use crate::emulator::{EmulatorError, Namespace};
use real::{Policy, Step};

/// Of files that are sent one behind the other.
pub const ALL: &str = "all";

/// What to measure.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// None for all.
    pub parts: Vec<Part>,
    /// Names; none for those of each part.
    pub policies: Vec<String>,
    /// Only those that begin with one of these, such as fast or slow/idle; none for all.
    pub scenarios: Vec<String>,
    /// Where the corpora are, if they are anywhere.
    pub data: Option<PathBuf>,
    /// How long a transfer without compression may take, in seconds: of each file so much is sent.
    pub seconds: f64,
    /// Of each file so much is sent, whatever that takes.
    pub share: Option<f64>,
    /// Through a tunnel so many octets are fetched, instead.
    pub octets: Option<u64>,
    /// When a transfer is stopped, in seconds.
    pub limit: f64,
    /// Of what is made.
    pub seed: u64,
    /// At most 30 seconds: every row, of fewer octets.
    pub quick: bool,
    /// The program `groupwire`, which can be a dummy process.
    pub program: PathBuf,
}

/// What there is to tell while the experiment runs. Skipped are parts and policies.
pub type Update = crate::Update<Row>;

/// Why there are no rows.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no such policy.
    #[error(
        "there is no policy {0}; there are never, codecs such as lz4, zstd-3 and zstd-3+history, zstd-adapt, ace-2005, groupwire"
    )]
    Policy(String),
    /// A codec does not do what it should.
    #[error("a codec cannot be measured: {0}")]
    Codec(String),
    /// There is no emulated network.
    #[error(transparent)]
    Emulator(#[from] EmulatorError),
    /// Sockets or processes failed.
    #[error(transparent)]
    System(#[from] std::io::Error),
}

/// Runs the experiment. Without a namespace there are no real links.
///
/// # Errors
/// A policy that is none; networks that cannot be set up, sockets and processes that fail.
pub fn run(
    namespace: Option<&Namespace>,
    options: &Options,
    tell: &mut dyn FnMut(Update),
) -> Result<(), Error> {
    let files = Files::load(options.data.as_deref(), options.seed);
    if options.wants(Part::Files) {
        options.list(&files, tell);
    }
    if options.wants(Part::Fits) {
        fits::run(options, &files, tell)?;
    }
    if options.wants(Part::Simulated) {
        model::run(options, &files, tell)?;
    }
    for part in [Part::Real, Part::Steps, Part::Tunnel] {
        match namespace {
            _ if !options.wants(part) => {}
            Some(namespace) if part == Part::Tunnel => {
                tunnel::run(namespace, options, &files, tell)?;
            }
            Some(namespace) => options.real(part, namespace, &files, tell)?,
            None => {
                let why = "it needs a network namespace of its own".to_owned();
                tell(Update::Skipped { what: part.to_string(), why });
            }
        }
    }
    Ok(())
}

impl Options {
    fn wants(&self, part: Part) -> bool {
        self.parts.is_empty() || self.parts.contains(&part)
    }

    /// Whether a policy is asked for.
    fn asks_for(&self, policy: &str) -> bool {
        self.policies.is_empty() || self.policies.iter().any(|one| one == policy)
    }

    /// Whether a scenario is asked for.
    fn includes(&self, scenario: &str) -> bool {
        self.scenarios.is_empty()
            || self.scenarios.iter().any(|one| scenario.starts_with(one.as_str()))
    }

    /// Table 1.
    fn list(&self, files: &Files, tell: &mut dyn FnMut(Update)) {
        for (set, samples) in [("training", &files.training), ("benchmark", &files.benchmark)] {
            for sample in samples {
                let row = Row {
                    bytes_in: sample.octets.len() as u64,
                    seed: self.seed,
                    quick: self.quick,
                    origin: Some(sample.origin.clone()),
                    ..Row::new(Part::Files, set, sample.name, "never")
                };
                tell(Update::Row(Box::new(row)));
            }
        }
    }

    /// Cells over real links.
    fn real(
        &self,
        part: Part,
        namespace: &Namespace,
        files: &Files,
        tell: &mut dyn FnMut(Update),
    ) -> Result<(), Error> {
        let skip = |what: &str, why: &str| {
            tell(Update::Skipped { what: what.to_owned(), why: why.to_owned() });
        };
        let policies = Policy::chosen(self, files, skip)?;
        let cells: Vec<_> = match part {
            Part::Real => paper::cells().into_iter().map(Place::Cell).collect(),
            _ => Step::ALL.map(Place::Step).to_vec(),
        };
        let cells: Vec<_> =
            cells.into_iter().filter(|cell| self.includes(&cell.to_string())).collect();
        let (total, mut done) = (cells.len() * policies.len(), 0);
        for cell in cells {
            let began = |policy: &Policy| {
                tell(Update::Progress { done, total, what: format!("{cell}, {}", policy.name) });
                done += 1;
            };
            let rows = match &cell {
                Place::Cell(cell) => cell.run(namespace, self, (files, &policies), began)?,
                Place::Step(step) => step.run(namespace, self, (files, &policies), began)?,
            };
            rows.into_iter().for_each(|row| tell(Update::Row(Box::new(row))));
        }
        Ok(())
    }
}

/// Where policies are compared.
#[derive(Debug, Clone, Copy)]
enum Place {
    Cell(real::Cell),
    Step(Step),
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Place::Cell(cell) => cell.fmt(f),
            Place::Step(step) => step.fmt(f),
        }
    }
}
