//! The simulated cells: links from slow to fast and processors from idle to busy, the paper's three
//! scenarios, and links that open or close a hundredfold.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use groupwire_ace::{Adaptive, Always, Candidate, Policy};
use groupwire_codecs::{ALL as CODECS, Costs};
use groupwire_papers::ace2005::Ace2005;

use super::files::Sample;
use super::paper;
use super::real::{Phase, ROUND_TRIP};
use super::row::{Part, compare_gains, compare_rates, is_static, row};
use super::simulated::{
    Conditions, Course, File, Oracle, Outcome, Table, Trace, Until, bound, transfer,
};
use super::training::Trained;
use super::{ALL, Files, Options};
use crate::{Result, Row, Update};

/// The bytes of a block, and of one of the paper's.
const BLOCK: usize = 64 << 10;
const PAPERS_BLOCK: usize = 32 << 10;
/// The static policies, with the stream's history and without.
const STATIC: [&str; 23] = [
    NONE,
    "lz4",
    "snappy",
    "lzo",
    "zstd-fast-3",
    "zstd-1",
    "zstd-3",
    "zstd-6",
    "zstd-9",
    "zstd-12",
    "zstd-19",
    "zlib-1",
    "zlib-6",
    "brotli-5",
    "bzip2",
    "lzma",
    "zstd-fast-3+history",
    "zstd-1+history",
    "zstd-3+history",
    "zstd-6+history",
    "zstd-9+history",
    "zstd-12+history",
    "zstd-19+history",
];
/// The codecs among which the paper's system chooses.
const PAPERS: [&str; 4] = [NONE, "lzo", "zlib", "bzip2"];
/// The policy of the paper, and ours.
const ACE_2005: &str = "ace-2005";
const GROUPWIRE: &str = "groupwire";
/// No compression.
const NONE: &str = "none";
/// The policies whose choices rows tell.
const CHOOSERS: [&str; 2] = [GROUPWIRE, ACE_2005];
/// The rate of each link in Mbit/s, and its one-way delay in ms: the paper's two links among modern
/// ones.
const LINKS: [(f64, f64); 10] = [
    (1.0, 20.0),
    (1.7, 35.0),
    (3.0, 10.0),
    (10.0, 10.0),
    (20.0, 5.0),
    (71.0, 0.5),
    (100.0, 5.0),
    (1000.0, 0.5),
    (2500.0, 0.2),
    (10_000.0, 0.1),
];
/// The one-way delay of the fast network.
const FAST_DELAY: Duration = Duration::from_micros(500);
/// The shares of a processor that other programs leave.
const SHARES: [f64; 4] = [1.0, 0.5, 0.25, 0.1];
/// The least duration of a transfer without compression, in seconds, for all files and for a single
/// one. The files are repeated until then.
const LEAST: [f64; 2] = [2.0, 1.0];
/// Blocks of a file in a quick experiment.
const QUICK: usize = 4;
/// The start and the end of a step, in seconds, and the time within which a policy has to adapt.
const STEP: f64 = 5.0;
const END: f64 = 15.0;
const GRACE: f64 = 2.0;
/// The length of an interval of a step's series, in seconds.
const TENTH: f64 = 0.1;
/// The number of blocks of one file before blocks of the next, in a stream that is the same at all
/// times.
const TURN: usize = 4;

/// How many times slower than today's the processors are in the scenarios whose names begin with
/// `slower-` and `tables-`.
const SLOWER: [f64; 6] = [1.0, 3.0, 5.0, 10.0, 20.0, 30.0];

/// Runs the part `simulated`.
///
/// # Errors
/// A call to the operating system fails.
pub(super) fn run(options: &Options, files: &Files, emit: &mut dyn FnMut(Update)) -> Result<()> {
    let model = Model::new(options, files, emit)?;
    let all: usize = model.table.files().iter().map(|file| file.bytes.len()).sum();
    let cells: Vec<(f64, f64, f64, f64)> = LINKS
        .into_iter()
        .flat_map(|(mbit, ms)| SHARES.into_iter().map(move |server| (mbit, ms, server)))
        .flat_map(|(mbit, ms, server)| {
            SHARES.into_iter().map(move |client| (mbit, ms, server, client))
        })
        .filter(|cell| options.includes(&steady(cell)))
        .collect();
    for (done, cell) in cells.iter().enumerate() {
        let (name, total) = (steady(cell), cells.len());
        emit(Update::Progress { done, total, what: name.clone() });
        let (mbit, ms, server, client) = *cell;
        let conditions =
            Conditions { mbit, delay: Duration::from_secs_f64(ms / 1e3), server, client };
        for file in std::iter::once(None).chain((0..files.benchmark.len()).map(Some)) {
            let bytes = file.map_or(all, |file| model.table.files()[file].bytes.len());
            let least = options.common.quick_or(0.0, LEAST[usize::from(file.is_some())]);
            let bytes = bytes.max((conditions.rate() * least) as usize);
            let rows = model.transfers(&name, file, bytes, &conditions.into());
            rows.into_iter().for_each(|row| emit(Update::Row(row)));
        }
    }
    for (name, phases) in paper::scenarios() {
        for (kind, mbit) in [("slower", Phase::mbit as fn(&Phase) -> f64), ("tables", paper::mbit)]
        {
            for slower in SLOWER {
                let is_usual = kind == "slower" && slower == 1.0;
                let name = if is_usual { name.into() } else { format!("{kind}-{slower}/{name}") };
                if options.includes(&name) {
                    let mut rows = model.scenario(&name, &phases, slower, mbit);
                    rows.retain(|row| is_usual || is_told(row.text("policy")));
                    rows.into_iter().for_each(|row| emit(Update::Row(row)));
                }
            }
        }
    }
    for (name, rates) in [("step-up", [1.7, 170.0]), ("step-down", [170.0, 1.7])] {
        if options.includes(name) {
            let rows = model.step(name, rates);
            rows.into_iter().for_each(|row| emit(Update::Row(row)));
        }
    }
    Ok(())
}

fn steady((mbit, _, server, client): &(f64, f64, f64, f64)) -> String {
    format!("link-{mbit}/cpu-{server}/cpu-{client}")
}

/// The options, and the sizes and times of all blocks, which were measured beforehand.
struct Model<'a> {
    options: &'a Options,
    table: Table,
    papers: Table,
    costs: Costs,
    /// `None` if the training run failed: then `ace-2005` has no rows.
    trained: Option<Rc<Trained>>,
}

/// The outcome of each policy.
type Outcomes = BTreeMap<String, Outcome>;

impl<'a> Model<'a> {
    fn new(options: &'a Options, files: &Files, emit: &mut dyn FnMut(Update)) -> Result<Model<'a>> {
        let mut table = |block: usize, names: &[&str], is_limited: bool| {
            let most = options.common.quick_or(QUICK * BLOCK, usize::MAX);
            let file = |sample: &Sample| File {
                name: sample.name.to_owned(),
                bytes: sample.bytes[..sample.bytes.len().min(most)].to_vec(),
            };
            let files = files.benchmark.iter().map(file).collect();
            // What chooses needs no compression, and groupwire all others, too.
            let has_all = !is_limited || options.asks_for(GROUPWIRE);
            let is_asked = |name: &&&str| has_all || **name == NONE || options.asks_for(name);
            let names = names.iter().filter(is_asked);
            let candidates = names.filter_map(|name| name.parse().ok()).collect();
            Table::new(files, block, candidates, &mut |done, total| {
                let what = format!("blocks of {} KiB by each codec", block >> 10);
                emit(Update::Progress { done, total, what });
            })
        };
        let (table, papers) = (table(BLOCK, &STATIC, true), table(PAPERS_BLOCK, &PAPERS, false));
        let start = Instant::now();
        let costs = Costs::measure(CODECS, Costs::SAMPLES, || start.elapsed());
        let trained = files.trained(options.training_time()).inspect_err(|error| {
            let why = format!("its training run failed: {error}");
            emit(Update::Skipped { what: ACE_2005.to_owned(), why });
        });
        Ok(Model { options, table, papers, costs, trained: trained.ok() })
    }

    /// Runs every policy over a course. `trace` makes the blocks to be sent from a table.
    fn all(
        &self,
        course: &Course,
        papers: &Course,
        trace: impl Fn(&Table) -> Trace<'_>,
    ) -> Outcomes {
        let (ours, theirs) = (trace(&self.table), trace(&self.papers));
        let send = |policy: &mut dyn Policy| transfer(policy, &ours, course);
        let mut outcomes = Outcomes::new();
        for candidate in &self.table.candidates {
            outcomes.insert(name(*candidate), send(&mut Always(*candidate)));
        }
        if self.options.asks_for(GROUPWIRE) {
            let mut adaptive = Adaptive::new(&[], &self.costs, BLOCK);
            outcomes.insert(GROUPWIRE.to_owned(), send(&mut adaptive));
        }
        outcomes.insert("oracle".to_owned(), send(&mut Oracle::new(&ours, course)));
        if let Some(trained) = &self.trained {
            let mut ace = Ace2005::new(trained.training.clone(), PAPERS_BLOCK);
            let sent = transfer(&mut ace, &theirs, papers);
            outcomes.insert(ACE_2005.to_owned(), sent);
        }
        let seconds = bound(&ours, course);
        outcomes.insert("bound".to_owned(), Outcome { seconds, ..Outcome::default() });
        outcomes
    }

    /// Single files have only the most telling rows, because all would be tens of thousands.
    fn transfers(
        &self,
        scenario: &str,
        file: Option<usize>,
        bytes: usize,
        course: &Course,
    ) -> Vec<Row> {
        let outcomes = self.all(course, course, |table| table.trace(file, bytes));
        let name = file.map_or(ALL, |file| &self.table.files()[file].name);
        let sent = self.table.trace(file, bytes).bytes();
        let conditions = course.phases[0].1;
        let row = row((Part::Simulated, &self.options.common), scenario, name, "")
            .with("network_mbit", conditions.mbit)
            .with("server_cpu_left", conditions.server)
            .with("client_cpu_left", conditions.client);
        let mut rows = self.rows(&row, sent, &outcomes);
        if file.is_some() {
            rows.retain(|row| {
                let policy = row.text("policy");
                !is_static(policy) || policy == "never" || row.number("over_best") == Some(0.0)
            });
        }
        rows
    }

    /// All files in each phase, one phase after the other, with slower processors.
    fn scenario(
        &self,
        scenario: &str,
        phases: &[Phase],
        slower: f64,
        mbit: fn(&Phase) -> f64,
    ) -> Vec<Row> {
        let once =
            |table: &Table| -> usize { table.files().iter().map(|file| file.bytes.len()).sum() };
        let blocks = |table: &Table| table.trace(None, once(table)).blocks.len();
        let course = |table: &Table| {
            let phase = |(at, phase): (usize, &Phase)| {
                let (mbit, [server, client]) = (mbit(phase), phase.left());
                // The fast network stays the same with traffic on it.
                let delay = if phase.fast.is_some() { FAST_DELAY } else { ROUND_TRIP / 2 };
                let (server, client) = (server / slower, client / slower);
                let conditions = Conditions { mbit, delay, server, client };
                (Until::Block((at + 1) * blocks(table)), conditions)
            };
            Course { phases: phases.iter().enumerate().map(phase).collect() }
        };
        let (ours, papers) = (course(&self.table), course(&self.papers));
        let bytes = once(&self.table) * phases.len();
        let outcomes =
            self.all(&ours, &papers, |table| table.trace(None, once(table) * phases.len()));
        let row = row((Part::Simulated, &self.options.common), scenario, ALL, "");
        let mut rows = self.rows(&row, bytes, &outcomes);
        for row in &mut rows {
            let policy = row.text("policy");
            let table = if policy == ACE_2005 { &self.papers } else { &self.table };
            let phases = lasted(&outcomes[policy], blocks(table));
            row.set("phases", phases);
        }
        compare_gains(&mut rows);
        rows
    }

    /// Runs a link whose rate changes during a stream that is the same at all times.
    fn step(&self, scenario: &str, [first, then]: [f64; 2]) -> Vec<Row> {
        let at = |mbit: f64| Conditions {
            mbit,
            delay: Duration::from_millis(1),
            server: 1.0,
            client: 1.0,
        };
        let phases = vec![(Until::Seconds(STEP), at(first)), (Until::Ever, at(then))];
        let course = Course { phases };
        // The bytes are more than could be sent without compression: no candidate shrinks them
        // below an eighth.
        let bytes = (8.0 * (STEP * at(first).rate() + (END - STEP) * at(then).rate())) as usize;
        let outcomes = self.all(&course, &course, |table| mixed(table, bytes));
        let block = |name: &str| if name == ACE_2005 { PAPERS_BLOCK } else { BLOCK };
        let mut rows = Vec::new();
        for (name, outcome) in &outcomes {
            // The oracle decides block by block, and does not know the time of a block beforehand.
            if ["oracle", "bound"].contains(&name.as_str()) {
                continue;
            }
            let mut series = vec![0; (END / TENTH).round() as usize];
            for (at, _) in &outcome.blocks {
                if let Some(count) = series.get_mut((at / TENTH) as usize) {
                    *count += block(name) as u64;
                }
            }
            let after: u64 = series[((STEP + GRACE) / TENTH) as usize..].iter().sum();
            let row = row((Part::Simulated, &self.options.common), scenario, "mixed", name)
                .with("network_mbit", then)
                .with("server_cpu_left", 1.0)
                .with("client_cpu_left", 1.0)
                .with("bytes_in", series.iter().sum::<u64>())
                .with("seconds", END)
                .with("rate_after", after as f64 / 1e6 / (END - STEP - GRACE))
                .with("series", series);
            rows.push(row);
        }
        compare_rates(&mut rows);
        rows
    }

    fn rows(&self, row: &Row, bytes: usize, outcomes: &Outcomes) -> Vec<Row> {
        let fixed = outcomes.iter().filter(|(name, _)| is_static(name));
        let best = fixed.map(|(_, outcome)| outcome.seconds).min_by(f64::total_cmp);
        let oracle = outcomes.get("oracle").map(|outcome| outcome.seconds);
        let over = |seconds: f64, than: Option<f64>| than.map(|than| seconds / than - 1.0);
        let row = |(name, outcome): (&String, &Outcome)| {
            row.clone()
                .with("policy", name)
                .with("seconds", outcome.seconds)
                .with("over_best", over(outcome.seconds, best))
                .with("over_oracle", over(outcome.seconds, oracle))
                .with("bytes_in", bytes)
                .with("bytes_wire", (outcome.wire > 0).then_some(outcome.wire))
                .with("picked", CHOOSERS.contains(&name.as_str()).then(|| picked(outcome)))
                .with(
                    "trained",
                    self.trained.as_ref().filter(|_| name == ACE_2005).map(|one| one.describe()),
                )
        };
        outcomes.iter().map(row).collect()
    }
}

/// Whether a policy has rows beside other processors and rates than the usual ones: those that the
/// paper compares, and what chooses.
fn is_told(policy: &str) -> bool {
    !is_static(policy) || paper::gain(policy).is_some()
}

/// The time of each phase of `blocks` blocks, in seconds; `None` if the blocks are unknown.
fn lasted(outcome: &Outcome, blocks: usize) -> Option<Vec<f64>> {
    let ends = outcome.blocks.chunks(blocks.max(1)).filter_map(|phase| Some(phase.last()?.0));
    let mut before = 0.0;
    let lasted = ends.map(|end| end - std::mem::replace(&mut before, end)).collect();
    (!outcome.blocks.is_empty()).then_some(lasted)
}

/// The shares of blocks that each choice was made for.
fn picked(outcome: &Outcome) -> BTreeMap<String, f64> {
    let mut picked = BTreeMap::new();
    for (_, candidate) in &outcome.blocks {
        *picked.entry(name(*candidate)).or_default() += 1.0 / outcome.blocks.len() as f64;
    }
    picked
}

/// Blocks of all files in turns.
fn mixed(table: &Table, bytes: usize) -> Trace<'_> {
    let files = 0..table.files().len();
    let size = |file: usize| table.files()[file].bytes.len();
    let files: Vec<Trace<'_>> = files.map(|file| table.trace(Some(file), size(file))).collect();
    let turn = TURN * BLOCK / table.block;
    let shortest = files.iter().map(|file| file.blocks.len() / turn).min().unwrap_or(0);
    let once: Vec<_> = (0..shortest.max(1))
        .flat_map(|at| {
            files.iter().flat_map(move |file| file.blocks.iter().skip(at * turn).take(turn))
        })
        .copied()
        .collect();
    let count = bytes.div_ceil(table.block);
    Trace { blocks: once.into_iter().cycle().take(count).collect(), candidates: &table.candidates }
}

fn name(candidate: Candidate) -> String {
    if candidate == Candidate::NONE { "never".to_owned() } else { candidate.to_string() }
}
