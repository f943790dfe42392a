//! The jobs of the experiment: which schemes run on which paths.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use clap::ValueEnum;

use super::cell::{Cell, Judged};
use super::conditions::Conditions;
use super::contender::Contender;
use super::paper::Paper;
use super::row::Part;
use super::steps::Step;
use super::traffic;
use super::{Input, Options};
use crate::Row;
use crate::options::{is_wanted, or_usual};
use crate::sim::Loss;
use crate::sim::input::Update;

const WAYS: [&str; 5] = ["50/250", "100/250", "250/250", "50/100", "100/100"];
/// The path of the rows with small messages.
const SMALL_WAY: &str = "50/250";
const STEP_WAYS: [&str; 3] = ["50/250", "250/250", "50/100"];
const NARROW_WAYS: [&str; 2] = ["50/250", "100/250"];
const STEPS: [&str; 4] = ["step0-20", "step20-0", "step0-pb5@8", "steppb5@8-0"];
/// Targets of the grid.
const PERCENTS: [f64; 3] = [5.0, 10.0, 20.0];
/// The target in all parts but the grid, if none is stated.
const TARGET: f64 = 0.05;
/// The rates of modems, in kbit/s.
const NARROW: [f64; 2] = [56.0, 28.8];
const NARROW_CHANNEL: &str = "rand20";
/// The AFEC paper, section 4: loss, and bandwidth in kbit/s.
const PAPER: [&str; 7] = ["rand0", "rand10", "rand20", "pb5@4", "pb5@8", "pb10@2", "pb10@4"];
const PAPER_KBIT: [f64; 2] = [56.0, 256.0];
/// The round trip and deadline for the paper's conditions. The paper states neither; its clients
/// and server were on a LAN.
const PAPER_WAY: &str = "2/250";

/// A round trip and a deadline, written in ms as 50/250.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Way {
    /// Of the whole path, without queues.
    pub(super) round_trip: Duration,
    /// The deadline, from application to application.
    pub(super) deadline: Duration,
}

impl Way {
    /// A direct path with this loss, over links of any rate.
    pub(super) fn cell(self, loss: &Loss, target: f64) -> Cell {
        let Way { round_trip, deadline } = self;
        let (loss, judged) = (loss.clone(), Judged::Deadline);
        Cell { loss, round_trip, deadline, judged, target, link_kbit: None, relayed: false }
    }
}

impl FromStr for Way {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let ms = |text: &str| text.parse().ok().map(Duration::from_millis);
        text.split_once('/')
            .and_then(|(round_trip, deadline)| {
                Some(Way { round_trip: ms(round_trip)?, deadline: ms(deadline)? })
            })
            .filter(|way| !way.deadline.is_zero() && way.deadline <= Duration::from_secs(60))
            .ok_or_else(|| format!("{text} is no round trip and deadline in ms, like 50/250"))
    }
}

/// The work of one thread at a time.
#[derive(Debug)]
pub(super) enum Job {
    Conditions(Box<Conditions>),
    Step(Step),
    Paper(Paper),
    /// The paper's Figures 2 and 3.
    Traffic,
}

impl Job {
    /// The approximate number of runs.
    pub(super) fn runs(&self) -> usize {
        match self {
            Job::Step(step) => step.contenders.len(),
            Job::Paper(paper) => paper.contenders.len(),
            Job::Traffic => 1,
            Job::Conditions(one) => {
                let count = |contender: &Contender| match contender {
                    Contender::Groupwire | Contender::BestStatic if one.compressed => {
                        2 * one.targets.len()
                    }
                    contender if contender.ignores_target() => 1,
                    _ => one.targets.len(),
                };
                one.contenders.iter().map(count).sum()
            }
        }
    }

    pub(super) fn rows(
        &self,
        input: &Input,
        messages: &Arc<[Update]>,
        options: &Options,
        started: &mut dyn FnMut(),
    ) -> Vec<Row> {
        match self {
            Job::Step(step) => step.rows(input, options, started),
            Job::Paper(paper) => paper.rows(input, options, started),
            Job::Traffic => traffic::rows(options, started),
            Job::Conditions(conditions) => conditions.rows(messages, options, started),
        }
    }
}

impl fmt::Display for Job {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (part, cell) = match self {
            Job::Step(step) => (Part::Steps, &step.cell),
            Job::Conditions(one) => (one.part, &one.cell),
            Job::Paper(paper) => (Part::Paper, &paper.cell),
            Job::Traffic => return write!(out, "{} traffic", Part::Paper),
        };
        let [round_trip, deadline] = [cell.round_trip, cell.deadline].map(|time| time.as_millis());
        write!(out, "{part} {} {round_trip}/{deadline}", cell.loss)
    }
}

/// All jobs that the options select.
pub(super) fn jobs(options: &Options, contenders: &[Contender]) -> Vec<Job> {
    let parts = Part::value_variants().iter().filter(|part| is_wanted(&options.parts, *part));
    let jobs = parts.flat_map(|part| match part {
        Part::Grid => grid(options, contenders),
        Part::Steps => steps(options, contenders),
        Part::Narrow => narrow(options, contenders),
        Part::Paper => paper(options, contenders),
    });
    jobs.filter(|job| job.runs() > 0).collect()
}

fn grid(options: &Options, contenders: &[Contender]) -> Vec<Job> {
    let percents = or_usual(&options.percents, &PERCENTS);
    let targets: Vec<f64> = percents.iter().map(|percent| percent / 100.0).collect();
    let mut jobs = Vec::new();
    for way in ways(options, &WAYS) {
        for loss in channels(options, &Loss::CHANNELS, false) {
            let cell = way.cell(&loss, TARGET);
            let conditions = Conditions {
                compressed: true,
                ..conditions(Part::Grid, cell, targets.clone(), contenders.to_vec())
            };
            jobs.push(Job::Conditions(Box::new(conditions)));
        }
    }
    jobs.extend(small(options, contenders));
    jobs
}

/// Small messages on every channel: what rows with a price of repeats compute, measured.
fn small(options: &Options, contenders: &[Contender]) -> Vec<Job> {
    let contenders = only(contenders, |one| {
        use Contender::{Afec2012, Afec2012Every, BestStatic, Fec, Groupwire, Udp};
        matches!(one, Udp | Fec(3) | Afec2012 | Afec2012Every(_) | Groupwire | BestStatic)
    });
    let way: Way = SMALL_WAY.parse().expect("it is one");
    let job = |loss: Loss| {
        let cell = way.cell(&loss, target(options));
        let grid = conditions(Part::Grid, cell, vec![target(options)], contenders.clone());
        Job::Conditions(Box::new(Conditions { small: true, ..grid }))
    };
    let is_wanted = is_wanted(&options.ways, &way);
    let channels = is_wanted.then(|| channels(options, &Loss::CHANNELS, false));
    channels.into_iter().flatten().map(job).collect()
}

fn steps(options: &Options, contenders: &[Contender]) -> Vec<Job> {
    let contenders = only(contenders, |one| {
        use Contender::{Afec2012, Afec2012Every, Groupwire};
        matches!(one, Afec2012 | Afec2012Every(_) | Groupwire)
    });
    let mut jobs = Vec::new();
    for way in ways(options, &STEP_WAYS) {
        for loss in channels(options, &STEPS, true) {
            let (cell, contenders) = (way.cell(&loss, target(options)), contenders.clone());
            jobs.push(Job::Step(Step { cell, contenders }));
        }
    }
    jobs
}

fn narrow(options: &Options, contenders: &[Contender]) -> Vec<Job> {
    let contenders = only(contenders, |one| {
        use Contender::{Afec2012, Afec2012Every, Fec, Groupwire, Udp};
        matches!(one, Udp | Fec(3) | Afec2012 | Afec2012Every(_) | Groupwire)
    });
    let mut jobs = Vec::new();
    for way in ways(options, &NARROW_WAYS) {
        for loss in known(&[NARROW_CHANNEL]).filter(|loss| is_wanted(&options.channels, loss)) {
            for kbit in NARROW {
                let target = target(options);
                let cell = Cell { link_kbit: Some(kbit), ..way.cell(&loss, target) };
                let narrow = conditions(Part::Narrow, cell, vec![target], contenders.clone());
                jobs.push(Job::Conditions(Box::new(narrow)));
            }
        }
    }
    jobs
}

fn paper(options: &Options, contenders: &[Contender]) -> Vec<Job> {
    let papers =
        paper_cells(&options.channels).map(|cell| Job::Paper(Paper::new(cell, contenders)));
    let is_all = options.channels.is_empty() && options.schemes.is_empty();
    papers.chain(is_all.then_some(Job::Traffic)).collect()
}

/// The conditions of the AFEC paper's evaluation, on these channels or on all.
pub(super) fn paper_cells(channels: &[Loss]) -> impl Iterator<Item = Cell> {
    let way: Way = PAPER_WAY.parse().expect("it is one");
    PAPER_KBIT.into_iter().flat_map(move |kbit| {
        known(&PAPER).filter(|loss| is_wanted(channels, loss)).map(move |loss| Cell {
            judged: Judged::Arrival,
            link_kbit: Some(kbit),
            relayed: true,
            ..way.cell(&loss, TARGET)
        })
    })
}

fn conditions(part: Part, cell: Cell, targets: Vec<f64>, contenders: Vec<Contender>) -> Conditions {
    Conditions { part, cell, targets, contenders, compressed: false, small: false }
}

fn target(options: &Options) -> f64 {
    options.percents.first().map_or(TARGET, |percent| percent / 100.0)
}

fn ways(options: &Options, usual: &[&str]) -> Vec<Way> {
    let usual: Vec<Way> = usual.iter().map(|way| way.parse().expect("it is one")).collect();
    or_usual(&options.ways, &usual)
}

/// The channels that were asked for, or else the usual ones. `steps` selects the channels whose
/// loss changes in steps, otherwise all others.
fn channels(options: &Options, usual: &[&str], steps: bool) -> Vec<Loss> {
    let usual: Vec<Loss> = known(usual).collect();
    or_usual(&options.channels, &usual)
        .into_iter()
        .filter(|loss| matches!(loss, Loss::Step { .. }) == steps)
        .collect()
}

fn known<'a>(names: &'a [&str]) -> impl Iterator<Item = Loss> + 'a {
    names.iter().map(|name| name.parse().expect("it names a loss"))
}

fn only(contenders: &[Contender], keep: impl Fn(&Contender) -> bool) -> Vec<Contender> {
    contenders.iter().copied().filter(keep).collect()
}
