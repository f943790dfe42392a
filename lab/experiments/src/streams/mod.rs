//! The experiment `ace`: which codec for which block of a stream, when, and what choosing gains
//! (the paper ACE).
//!
//! lab/README.md says what each figure means.

mod far;
mod files;
mod fits;
mod model;
mod paper;
mod proxies;
mod real;
mod row;
mod simulated;
mod stand_in;
mod training;

pub(crate) use real::dummy;

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::emulator::Namespace;
use crate::far::Access;
use crate::options::{Common, Program, between, directory_or, is_wanted};
use crate::{Result, Update};
use files::Files;
use real::{Changing, Policy, Step};
use row::Part;

/// The directory of the standard corpora, if it exists.
const DATA: &str = "../shared/data/corpus";
/// The limit of a transfer with `--quick`, in seconds, and in the part `paper`. All transfers
/// together then take less than 30 s.
const QUICK_LIMIT: f64 = 0.03;
const PAPERS_QUICK_LIMIT: f64 = 0.15;
/// The parts that need a network namespace.
const NETWORKED: [Part; 4] = [Part::Real, Part::Scenarios, Part::Steps, Part::Tunnel];
/// The parts that make up the part `paper`.
const PAPERS: [Part; 4] = [Part::Files, Part::Fits, Part::Real, Part::Scenarios];
/// The time without compression and the limit of a transfer over a real link, in seconds: enough
/// for choosing to settle, and for the part `paper` few enough to take half an hour.
const SECONDS: f64 = 10.0;
const LIMIT: f64 = 60.0;
const PAPERS_SECONDS: f64 = 7.0;
const PAPERS_LIMIT: f64 = 16.0;
/// The name of all files together, which are sent one behind the other.
const ALL: &str = "all";

/// The options of `groupwire-lab ace`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Run only these parts.
    #[arg(long = "part", value_name = "NAME", value_delimiter = ',')]
    parts: Vec<Part>,

    /// Run only these policies: never, lzo, lz4, zstd-3, zstd-3+history, zstd-adapt, ace-2005,
    /// groupwire, ... In simulated time all are measured if groupwire is among them.
    #[arg(long = "policy", value_name = "NAME", value_delimiter = ',')]
    policies: Vec<String>,

    /// Run only scenarios whose names begin with one of these: fast, slow/idle,
    /// fast-heavy/medium/heavy, step-up, ...
    #[arg(long = "scenario", value_name = "NAME", value_delimiter = ',')]
    scenarios: Vec<String>,

    /// Use files of this directory, too. Default: ../shared/data/corpus, if it exists.
    #[arg(long, value_name = "DIRECTORY")]
    data: Option<PathBuf>,

    /// The time that the files together take over a real link without compression, in seconds. Each
    /// file is truncated accordingly. Default: 10, and 7 for the part paper.
    #[arg(long, value_name = "SECONDS", value_parser = between(0.01, 3600.0))]
    seconds: Option<f64>,

    /// The share of each file to send over a real link, from 0 to 1, instead of --seconds.
    #[arg(long, value_name = "SHARE", value_parser = between(0.0001, 1.0))]
    share: Option<f64>,

    /// The processor time of the training run of ace-2005, in seconds: each block is compressed as
    /// often as it allows, 3 to 100 times.
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = between(0.0, 3600.0))]
    train: f64,

    /// The bytes to fetch through a tunnel, instead of --seconds.
    #[arg(long, alias = "octets", value_name = "BYTES",
        value_parser = clap::value_parser!(u64).range(100_000..=100_000_000_000))]
    bytes: Option<u64>,

    /// The limit of a transfer over a real link, in seconds. Default: 60, and 16 for the part
    /// paper.
    #[arg(long, value_name = "SECONDS", value_parser = between(0.01, 3600.0))]
    limit: Option<f64>,

    #[command(flatten)]
    far: Access,

    #[command(flatten)]
    program: Program,

    /// Keep a core busy until standard input ends. The experiment starts such processes as load.
    #[arg(long, value_name = "CORE", hide = true)]
    pub(crate) dummy: Option<usize>,

    #[command(flatten)]
    pub(crate) common: Common,
}

/// Runs the experiment. Without a network namespace there are no real links.
///
/// # Errors
/// A policy that is none; networks that cannot be set up, sockets and processes that fail.
pub(crate) fn run(options: &Options, emit: &mut dyn FnMut(Update)) -> Result<()> {
    if options.far.is_asked_for() {
        let files = Files::load(directory_or(&options.data, DATA).as_deref(), options.common.seed);
        return far::run(&options.far, options, &files, emit);
    }
    let networked: Vec<Part> = NETWORKED.into_iter().filter(|part| options.wants(*part)).collect();
    // Comes first, because it may start this program again in a network namespace.
    let namespace = (!networked.is_empty()).then(Namespace::enter).transpose();
    let files = Files::load(directory_or(&options.data, DATA).as_deref(), options.common.seed);
    if options.wants(Part::Files) {
        options.list(&files, emit);
    }
    if options.wants(Part::Fits) {
        fits::run(options, &files, emit)?;
    }
    if options.wants(Part::Simulated) {
        model::run(options, &files, emit)?;
    }
    for part in networked {
        match &namespace {
            Ok(Some(namespace)) if part == Part::Tunnel => {
                proxies::run(namespace, options, &files, emit)?;
            }
            Ok(Some(namespace)) => options.real(part, namespace, &files, emit)?,
            Ok(None) => {}
            Err(why) => emit(Update::Skipped { what: part.to_string(), why: why.to_string() }),
        }
    }
    Ok(())
}

impl Options {
    /// The processor time of a training run; `None` for the shortest one.
    fn training_time(&self) -> Option<Duration> {
        (!self.common.quick).then(|| Duration::from_secs_f64(self.train))
    }

    fn wants(&self, part: Part) -> bool {
        is_wanted(&self.parts, &part) || self.is_paper() && PAPERS.contains(&part)
    }

    /// Whether the paper's conditions and policies alone are asked for.
    fn is_paper(&self) -> bool {
        self.parts.contains(&Part::Paper)
    }

    /// Whether a policy is asked for.
    fn asks_for(&self, policy: &str) -> bool {
        is_wanted(&self.policies, policy)
    }

    /// The limit of a transfer over a real link, in seconds.
    fn limit(&self) -> f64 {
        let (quick, usual) = match self.is_paper() {
            true => (PAPERS_QUICK_LIMIT, PAPERS_LIMIT),
            false => (QUICK_LIMIT, LIMIT),
        };
        self.common.quick_or(quick, self.limit.unwrap_or(usual))
    }

    /// The time that the files take without compression, in seconds.
    fn seconds(&self) -> f64 {
        self.seconds.unwrap_or(if self.is_paper() { PAPERS_SECONDS } else { SECONDS })
    }

    /// The share of `bytes` bytes that is sent over a real link of which this rate is left.
    fn share_of(&self, bytes: usize, mbit: f64) -> f64 {
        // A quick transfer without compression is complete before its limit.
        let seconds = self.common.quick_or(self.limit() / 2.0, self.seconds());
        let affordable = mbit * 1e6 / 8.0 * seconds / bytes.max(1) as f64;
        self.share.unwrap_or(affordable).clamp(0.0, 1.0)
    }

    /// Whether a scenario is asked for.
    fn includes(&self, scenario: &str) -> bool {
        self.scenarios.is_empty()
            || self.scenarios.iter().any(|one| scenario.starts_with(one.as_str()))
    }

    /// Emits the files of Table 1 and their sums.
    fn list(&self, files: &Files, emit: &mut dyn FnMut(Update)) {
        for (set, samples) in [("training", &files.training), ("benchmark", &files.benchmark)] {
            let row = |name: &str, bytes: usize, paper_kb: f64| {
                let row = row::row((Part::Files, &self.common), set, name, "never");
                row.with("bytes_in", bytes).with("paper_kb", paper_kb)
            };
            for sample in samples {
                let row = row(sample.name, sample.bytes.len(), sample.paper_kb);
                emit(Update::Row(row.with("origin", &sample.origin)));
            }
            let bytes = samples.iter().map(|sample| sample.bytes.len()).sum();
            let paper_kb = samples.iter().map(|sample| sample.paper_kb).sum();
            emit(Update::Row(row(ALL, bytes, paper_kb)));
        }
    }

    /// Runs the parts over real links.
    fn real(
        &self,
        part: Part,
        namespace: &Namespace,
        files: &Files,
        emit: &mut dyn FnMut(Update),
    ) -> Result<()> {
        let skip = |what: &str, why: &str| {
            emit(Update::Skipped { what: what.to_owned(), why: why.to_owned() });
        };
        let policies = Policy::chosen(self, files, skip)?;
        let cells: Vec<_> = match part {
            Part::Real => paper::cells().into_iter().map(Scenario::Cell).collect(),
            Part::Scenarios => paper::scenarios()
                .into_iter()
                .map(|(name, phases)| Scenario::Changing(Changing { name, phases }))
                .collect(),
            _ => Step::ALL.map(Scenario::Step).to_vec(),
        };
        let cells: Vec<_> =
            cells.into_iter().filter(|cell| self.includes(&cell.to_string())).collect();
        let (total, mut done) = (cells.len() * policies.len(), 0);
        for cell in cells {
            let began = |policy: &Policy| {
                emit(Update::Progress { done, total, what: format!("{cell}, {}", policy.name) });
                done += 1;
            };
            let rows = match &cell {
                Scenario::Cell(cell) => cell.run(namespace, self, (files, &policies), began)?,
                Scenario::Changing(one) => one.run(namespace, self, (files, &policies), began)?,
                Scenario::Step(step) => step.run(namespace, self, (files, &policies), began)?,
            };
            rows.into_iter().for_each(|row| emit(Update::Row(row)));
        }
        Ok(())
    }
}

/// A scenario in which policies are compared.
#[derive(Debug, Clone)]
enum Scenario {
    Cell(real::Cell),
    Changing(Changing),
    Step(Step),
}

impl std::fmt::Display for Scenario {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Scenario::Cell(cell) => cell.fmt(f),
            Scenario::Changing(changing) => changing.fmt(f),
            Scenario::Step(step) => step.fmt(f),
        }
    }
}
