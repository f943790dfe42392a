//! The experiment `fairness`: what our congestion control takes and leaves at a bottleneck that it
//! shares with the kernel's TCP, and how long its datagrams wait, in its own endpoint and at the
//! link, when it is alone.
//!
//! Both kinds of flows are real sockets, QUIC with the settings of `groupwire-quic` and TCP of the
//! kernel, through one emulated link with a drop-tail queue. lab/README.md says what each figure
//! means.

mod meter;
mod quic;
mod tcp;

use std::time::Duration;

use clap::Args;

use crate::emulator::{Emulator, Namespace, Path};
use crate::options::{Common, or_usual};
use crate::sim::{Capacity, LinkConfig, Queue};
use crate::statistics::Summary;
use crate::{Result, Row, Update};
use meter::Meter;

/// The rate at which the application sends, in kbit/s.
const OFFERED: f64 = 2000.0;
/// The rate of the link without competing flows, in kbit/s: less than the application sends, so
/// that there could be a queue.
const ALONE_KBIT: f64 = 1000.0;
/// The rate of the link with competing flows, in kbit/s: with one of them, the fair share is the
/// application's rate.
const SHARED_KBIT: f64 = 4000.0;
const FLOWS: [usize; 3] = [1, 2, 4];
const CONTROLS: [&str; 2] = ["cubic", "bbr"];
/// The competing flows begin this time earlier, so that they have taken the link.
const HEAD_START: Duration = Duration::from_secs(3);
/// The time in which both sides find their rates.
const SETTLING: Duration = Duration::from_secs(5);
/// The time between two rows of a run.
const STEP: Duration = Duration::from_millis(500);

const FIELDS: &str = "control flows link_kbit rtt_ms buffer_ms offered_kbit at_s kbit other_kbit \
                      fair_kbit of_fair queue_p50_ms queue_p99_ms";

/// The options of `groupwire-lab fairness`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The congestion control of the kernel's flows, such as cubic, bbr.
    #[arg(long = "control", value_name = "NAME", value_delimiter = ',')]
    controls: Vec<String>,

    /// The numbers of competing TCP flows. Default: 0, 1, 2, 4.
    #[arg(long, value_name = "COUNT", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(0..=50))]
    flows: Vec<u32>,

    /// The rate of the link in kbit/s. Default: 1000 without competing flows, otherwise 4000.
    #[arg(long, value_name = "KBIT", value_parser = clap::value_parser!(u32).range(100..=100_000))]
    link: Option<u32>,

    /// The round trip without queues, in ms.
    #[arg(long, value_name = "MS", default_value_t = 50, value_parser = clap::value_parser!(u64).range(2..=1000))]
    rtt: u64,

    /// The size of the queue before the link, in ms of the link's rate.
    #[arg(long, value_name = "MS", default_value_t = 100, value_parser = clap::value_parser!(u64).range(2..=2000))]
    buffer: u64,

    /// The length of a run in seconds.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=600))]
    seconds: Option<u64>,

    #[command(flatten)]
    pub(crate) common: Common,
}

/// The conditions of one run.
#[derive(Debug, Clone)]
struct Run {
    /// The congestion control of the competing TCP flows, if there are any.
    control: Option<String>,
    flows: usize,
    link_kbit: f64,
    rtt: Duration,
    buffer: Duration,
    length: Duration,
}

/// Runs the experiment.
///
/// # Errors
/// No emulated network, sockets that fail.
pub(crate) fn run(options: &Options, emit: &mut dyn FnMut(Update)) -> Result<()> {
    // Comes first, because it may start this program again in a network namespace.
    let namespace =
        Namespace::enter().map_err(|error| format!("no emulated links here: {error}"))?;
    let runs = options.runs();
    for (done, run) in runs.iter().enumerate() {
        let what = run.name();
        emit(Update::Progress { done, total: runs.len(), what: what.clone() });
        match measure(&namespace, run) {
            Ok(meter) => {
                let rows = rows(run, &meter, &options.common);
                rows.into_iter().for_each(|row| emit(Update::Row(row)));
            }
            Err(error) => emit(Update::Skipped { what, why: error.to_string() }),
        }
    }
    Ok(())
}

impl Options {
    fn runs(&self) -> Vec<Run> {
        let length = self.seconds.unwrap_or(self.common.quick_or(3, 40));
        let run = |control: Option<&String>, flows: usize| Run {
            control: control.cloned(),
            flows,
            link_kbit: self
                .link
                .map_or(if flows == 0 { ALONE_KBIT } else { SHARED_KBIT }, f64::from),
            rtt: Duration::from_millis(self.rtt),
            buffer: Duration::from_millis(self.buffer),
            length: Duration::from_secs(length),
        };
        let flows: Vec<usize> = self.flows.iter().map(|count| *count as usize).collect();
        let controls = or_usual(&self.controls, &CONTROLS.map(str::to_owned));
        let mut runs = Vec::new();
        if flows.is_empty() || flows.contains(&0) {
            runs.push(run(None, 0));
        }
        let others: Vec<usize> =
            or_usual(&flows, &FLOWS).into_iter().filter(|count| *count > 0).collect();
        for control in &controls {
            runs.extend(others.iter().map(|count| run(Some(control), *count)));
        }
        runs
    }
}

impl Run {
    fn name(&self) -> String {
        match &self.control {
            Some(control) => format!("beside {} flows of {control}", self.flows),
            None => "alone".to_owned(),
        }
    }
}

fn measure(namespace: &Namespace, run: &Run) -> Result<Meter> {
    let link = LinkConfig {
        capacity: Capacity::kbit(run.link_kbit),
        queue: Queue::Time(run.buffer),
        ..LinkConfig::default()
    };
    let emulator = Emulator::start(namespace, &[Path::symmetric(link, run.rtt, 1)])?;
    let client = emulator.client(0);
    let meter = Meter::new(run.rtt / 2);
    let others = match &run.control {
        Some(control) => Some(tcp::Flows::start(client, control, run.flows, &meter)?),
        None => None,
    };
    if others.is_some() {
        std::thread::sleep(HEAD_START.min(run.length));
    }
    quic::offer(client, run.length, &meter)?;
    if let Some(others) = others {
        others.stop();
    }
    Ok(meter)
}

/// A row for each step of time, and one for all after the settling.
fn rows(run: &Run, meter: &Meter, common: &Common) -> Vec<Row> {
    let steps = meter.steps();
    let row = || {
        Row::new("fairness", FIELDS, common)
            .with("control", run.control.as_deref())
            .with("flows", run.flows)
            .with("link_kbit", run.link_kbit)
            .with("rtt_ms", run.rtt.as_millis() as u64)
            .with("buffer_ms", run.buffer.as_millis() as u64)
            .with("offered_kbit", OFFERED)
    };
    let flows = run.flows.max(1) as f64;
    let mut rows: Vec<Row> = steps
        .windows(2)
        .map(|pair| {
            let seconds = (pair[1].at - pair[0].at).as_secs_f64();
            let kbit = |bytes: u64| bytes as f64 / 125.0 / seconds;
            let row = row()
                .with("at_s", pair[1].at.as_secs_f64())
                .with("kbit", kbit(pair[1].ours - pair[0].ours))
                .with("other_kbit", kbit(pair[1].others - pair[0].others) / flows);
            with_queue(row, &meter.queues_between(pair[0].at, pair[1].at))
        })
        .collect();
    let settled = steps.iter().find(|step| step.at >= SETTLING.min(run.length / 3));
    if let (Some(from), Some(to)) = (settled, steps.last()) {
        let seconds = (to.at - from.at).as_secs_f64().max(1e-3);
        let kbit = |bytes: u64| bytes as f64 / 125.0 / seconds;
        let (ours, others) = (kbit(to.ours - from.ours), kbit(to.others - from.others));
        let fair = ((ours + others) / (run.flows + 1) as f64).min(OFFERED);
        let row = row()
            .with("kbit", ours)
            .with("other_kbit", others / flows)
            .with("fair_kbit", fair)
            .with("of_fair", ours / fair);
        rows.push(with_queue(row, &meter.queues_between(from.at, Duration::MAX)));
    }
    rows
}

/// A row with the waiting times of these datagrams; without any, the times are unknown.
fn with_queue(row: Row, queues: &[f64]) -> Row {
    let queue = Summary::of(queues);
    let known = queue.count > 0;
    row.with("queue_p50_ms", known.then_some(queue.median))
        .with("queue_p99_ms", known.then_some(queue.p99))
}
