//! The experiment `lossless`: what codecs under every message gain, by the size of messages and the
//! rate of the link (the paper LMC).
//!
//! Single messages go from one end of a TCP connection to the other and back, packed by one
//! contender, over an emulated Ethernet that takes the time its bits take. All contenders of a cell
//! take turns. lab/README.md says what each figure means.

mod cell;
mod connection;
mod contender;
mod memory;
mod parallel;
mod payload;
mod player;
mod row;
mod telecom;
mod throughput;
mod work;

#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use groupwire_codecs::{ALL, Choice, Costs};

use crate::emulator::{Cable, Ethernet, Namespace, Wire};
use crate::options::{Common, between, directory_or, is_wanted, or_usual};
use crate::{Result, Row, Update};
use cell::{Cell, CellSetup};
use connection::Connection;
use contender::Contender;
use payload::Payload;
use row::Part;
use throughput::StreamTest;

/// The directory of the standard corpora, if it exists.
const DATA: &str = "../shared/data/corpus";
/// The sizes of messages, in bytes (paper, section 7.1).
const SIZES: [u32; 4] = [500, 700, 1000, 1400];
/// The rates of links, in Mbit/s.
const RATES: [f64; 3] = [10.0, 100.0, 1000.0];
/// The size of the messages with which codecs are timed beforehand.
const SAMPLE: usize = 1400;
/// The numbers of switches.
const HOPS: [u32; 2] = [0, 1];
/// The codecs of the part that fills links, if they are among the contenders.
const STREAMED: [&str; 4] = ["none", "lz4", "lzo", "zstd-1"];
const STREAM_TIME: Duration = Duration::from_secs(5);
const QUICK_STREAM_TIME: Duration = Duration::from_millis(100);

/// The options of `groupwire-lab lossless`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Run only these parts.
    #[arg(long = "part", value_name = "NAME", value_delimiter = ',')]
    parts: Vec<Part>,

    /// The sizes of messages in bytes, instead of 500, 700, 1000, 1400.
    #[arg(long, value_name = "BYTES", value_delimiter = ',',
        value_parser = clap::value_parser!(u32).range(1..=60_000))]
    sizes: Vec<u32>,

    /// The rates of links in Mbit/s, instead of 10, 100, 1000.
    #[arg(long, value_name = "MBIT", value_delimiter = ',', value_parser = between(0.01, 10_000.0))]
    rates: Vec<f64>,

    /// The numbers of store-and-forward switches between both ends, instead of 0 and 1.
    #[arg(long, value_name = "COUNT", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(0..=16))]
    hops: Vec<u32>,

    /// Run only these codecs, besides no compression: lz4, zstd-1, zstd-fast-3, delta4+lz4, auto,
    /// ...
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    codecs: Vec<Contender>,

    /// Run only these payloads: telecom, the name of a file, or all.
    #[arg(long = "payload", value_name = "NAME", value_delimiter = ',')]
    payloads: Vec<String>,

    /// Cut messages from files of this directory, too. Default: ../shared/data/corpus, if it
    /// exists.
    #[arg(long, value_name = "DIRECTORY")]
    data: Option<PathBuf>,

    /// The number of messages of each codec on each link. Default: 5,000, 10,000 or 20,000, by the
    /// rate of the link.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    messages: Option<u32>,

    /// Only show the memory of each codec.
    #[arg(long)]
    memory: bool,

    /// Measure the memory of one codec in this process.
    #[arg(long, value_name = "NAME", hide = true)]
    pub(crate) memory_of: Option<Contender>,

    #[command(flatten)]
    pub(crate) common: Common,
}

impl Options {
    /// Whether only the conditions of the LMC paper are measured.
    fn is_papers(&self) -> bool {
        self.parts.contains(&Part::Paper)
    }

    /// The contenders that are measured unless options name others.
    fn usual(&self) -> Vec<Contender> {
        if self.is_papers() { Contender::papers() } else { Contender::all() }
    }
}

/// Prints the memory of one codec, for the process that measures all of them.
///
/// # Errors
/// The codec or the system does not tell.
pub(crate) fn memory_of(contender: Contender) -> Result<()> {
    memory::measure(contender)
}

/// Runs the experiment.
///
/// # Errors
/// No emulated network, no payload, sockets that fail.
pub(crate) fn run(options: &Options, emit: &mut dyn FnMut(Update)) -> Result<()> {
    if options.memory {
        let contenders = or_usual(&options.codecs, &options.usual());
        return memory::run(&contenders, &options.common, emit);
    }
    // Comes first, because it may start this program again in a network namespace.
    let namespace =
        Namespace::enter().map_err(|error| format!("no emulated links here: {error}"))?;
    measure(&namespace, options, emit)
}

fn measure(namespace: &Namespace, options: &Options, emit: &mut dyn FnMut(Update)) -> Result<()> {
    let folder = directory_or(&options.data, DATA);
    let papers = [payload::TELECOM.to_owned()];
    let usual = if options.is_papers() { &papers[..] } else { &[] };
    let names = or_usual(&options.payloads, usual);
    let payloads = Payload::chosen(&names, folder.as_deref(), options.common.seed)?;
    let contenders = contenders(options, emit);
    let plan = Plan { options, payloads, contenders };
    // Only where it is named: it is about large messages, and the others are not.
    if options.parts.iter().any(|part| [Part::Parallel, Part::Paper].contains(part))
        && let Some(first) = plan.payloads.first()
    {
        parallel::rows(first, &options.common)?.into_iter().for_each(|row| emit(Update::Row(row)));
    }
    let (cells, streams) = (plan.cells(), plan.streams());
    let total = cells.len() + streams.len();
    if !cells.is_empty() {
        plan.pingpong(namespace, &cells, total, emit)?;
    }
    for (number, (mbit, hops)) in streams.iter().enumerate() {
        let (done, what) = (cells.len() + number, format!("{mbit} Mbit/s, {hops} hops, streams"));
        emit(Update::Progress { done, total, what: what.clone() });
        match plan.stream(namespace, *mbit, *hops) {
            Ok(rows) => rows.into_iter().for_each(|row| emit(Update::Row(row))),
            Err(error) => emit(Update::Skipped { what, why: error.to_string() }),
        }
    }
    Ok(())
}

/// The contenders that were asked for and exist here, no compression first.
fn contenders(options: &Options, emit: &mut dyn FnMut(Update)) -> Vec<Contender> {
    let mut contenders = vec![Contender::NONE];
    for contender in or_usual(&options.codecs, &options.usual()) {
        match contender.check() {
            Ok(()) if contenders.contains(&contender) => {}
            Ok(()) => contenders.push(contender),
            Err(why) => {
                emit(Update::Skipped { what: contender.to_string(), why: why.to_string() });
            }
        }
    }
    contenders
}

/// The options, the payloads and the codecs of the experiment.
struct Plan<'a> {
    options: &'a Options,
    payloads: Vec<Payload>,
    contenders: Vec<Contender>,
}

impl Plan<'_> {
    fn wants(&self, part: Part) -> bool {
        is_wanted(&self.options.parts, &part) || self.options.is_papers()
    }

    /// Links without switches before those with.
    fn links(&self) -> Vec<(f64, usize)> {
        let (rates, hops) =
            (or_usual(&self.options.rates, &RATES), or_usual(&self.options.hops, &HOPS));
        let links = |hops: u32| rates.iter().map(move |rate| (*rate, hops as usize));
        hops.into_iter().flat_map(links).collect()
    }

    /// The cells: first the baseline of each size, then all by payload, link and size.
    fn cells(&self) -> Vec<Cell<'_>> {
        let sizes: Vec<_> =
            or_usual(&self.options.sizes, &SIZES).into_iter().map(|size| size as usize).collect();
        let (mut cells, Some(first)) = (Vec::new(), self.payloads.first()) else {
            return Vec::new();
        };
        if !self.wants(Part::Pingpong) && !self.wants(Part::Baseline) {
            return cells;
        }
        let cell = |payload, ethernet: Ethernet, size| Cell {
            payload,
            size,
            ethernet,
            messages: self.messages(ethernet),
            baseline_us: None,
            common: self.options.common,
        };
        cells.extend(sizes.iter().map(|size| cell(first, Ethernet::default(), *size)));
        if self.wants(Part::Pingpong) {
            for payload in &self.payloads {
                for (rate, hops) in self.links() {
                    let ethernet = Ethernet::mbit(rate, hops);
                    cells.extend(sizes.iter().map(|size| cell(payload, ethernet, *size)));
                }
            }
        }
        cells
    }

    /// The number of messages: the paper's for 10, 100 and 1000 Mbit/s, or a fifth of that where
    /// only its conditions are measured, so that they take minutes.
    fn messages(&self, ethernet: Ethernet) -> usize {
        let rate = ethernet.rate.unwrap_or(f64::MAX);
        let usual = match (rate, self.options.common.quick) {
            (..50e6, true) => 3,
            (..500e6, true) => 10,
            (_, true) => 25,
            (..50e6, false) if self.options.is_papers() => 1000,
            (..500e6, false) if self.options.is_papers() => 2000,
            (_, false) if self.options.is_papers() => 4000,
            (..50e6, false) => 5000,
            (..500e6, false) => 10_000,
            (_, false) => 20_000,
        };
        self.options.messages.map_or(usual, |count| count as usize)
    }

    fn pingpong(
        &self,
        namespace: &Namespace,
        cells: &[Cell<'_>],
        total: usize,
        emit: &mut dyn FnMut(Update),
    ) -> Result<()> {
        let wire = Wire::start(namespace, Ethernet::default())?;
        let [near, far] = wire.connect()?;
        let mut connections = [Connection::new(near)?, Connection::new(far)?];
        let costs = self.costs();
        let mut place = CellSetup { wire: &wire, connections: &mut connections, costs: &costs };
        let mut baselines = Vec::new();
        for (done, cell) in cells.iter().enumerate() {
            let is_baseline = cell.ethernet.rate.is_none();
            let what = cell.to_string();
            emit(Update::Progress { done, total, what: what.clone() });
            if !cell.has_messages() {
                let why = "the file is shorter than a message".to_owned();
                emit(Update::Skipped { what, why });
                continue;
            }
            let contenders = if is_baseline { &[Contender::NONE][..] } else { &self.contenders };
            let known = baselines.iter().find(|(size, _)| *size == cell.size);
            let baseline_us = known.and_then(|(_, baseline): &(_, Option<f64>)| *baseline);
            let rows = Cell { baseline_us, ..*cell }.run(contenders, &mut place)?;
            for row in rows {
                if is_baseline {
                    baselines.push((cell.size, row.number("rtt_us")));
                }
                emit(Update::Row(row));
            }
        }
        Ok(())
    }

    /// The costs of codecs on this machine, measured as a native client does before it begins.
    fn costs(&self) -> Costs {
        let (mut samples, start) = (Vec::new(), Instant::now());
        for payload in &self.payloads {
            samples.extend(payload.messages(SAMPLE, 1, self.options.common.seed));
        }
        let samples: Vec<&[u8]> = samples.iter().map(Vec::as_slice).collect();
        Costs::measure(ALL, &samples, || start.elapsed())
    }

    /// The links of the part that fills links.
    fn streams(&self) -> Vec<(f64, usize)> {
        let is_wanted = self.wants(Part::Bandwidth) || self.wants(Part::Throughput);
        // The cable has one switch or none.
        self.links().into_iter().filter(|(_, hops)| is_wanted && *hops < 2).collect()
    }

    fn stream(&self, namespace: &Namespace, mbit: f64, hops: usize) -> Result<Vec<Row>> {
        let Some(payload) = self.payloads.first() else { return Ok(Vec::new()) };
        let cable = Cable::start(namespace, mbit, hops > 0)?;
        let common = self.options.common;
        let time = common.quick_or(QUICK_STREAM_TIME, STREAM_TIME);
        let stream = StreamTest { cable: &cable, mbit, hops, payload, time, common };
        let mut rows = Vec::new();
        if self.wants(Part::Bandwidth) {
            rows.push(stream.bandwidth()?);
        }
        if self.wants(Part::Throughput) {
            for choice in self.streamed() {
                rows.push(stream.throughput(choice)?);
            }
        }
        Ok(rows)
    }

    fn streamed(&self) -> Vec<Choice> {
        let known = STREAMED.iter().filter_map(|name| name.parse().ok());
        known.filter(|choice| self.contenders.contains(&Contender::Fixed(*choice))).collect()
    }
}
