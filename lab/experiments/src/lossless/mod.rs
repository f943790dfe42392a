//! The experiment `lossless`: what codecs under every message gain, by the size of messages and the rate of the link
//! (the paper LMC).
//!
//! Single messages go from one end of a TCP connection to the other and back, packed by one contender, over an emulated
//! Ethernet that takes the time its bits take. All contenders of a cell take turns. docs/lab.md says what each figure
//! means.

mod cell;
mod connection;
mod contender;
pub mod memory;
mod payload;
mod player;
mod row;
mod telecom;
mod throughput;

#[cfg(test)]
mod tests;

pub use contender::Contender;
pub use payload::{Payload, PayloadError};
pub use row::{Part, Row};

use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use cell::{Cell, Place};
use connection::Connection;
use groupwire_codecs::{ALL, Choice, Costs};
use throughput::Stream;

use crate::emulator::{Cable, EmulatorError, Ethernet, Namespace, Wire};

/// Of messages, in octets (paper, section 7.1).
const SIZES: [usize; 4] = [500, 700, 1000, 1400];
/// Of links, in Mbit/s.
const RATES: [f64; 3] = [10.0, 100.0, 1000.0];
/// Of a message that codecs are timed with beforehand.
const SAMPLE: usize = 1400;
/// Switches.
const HOPS: [usize; 2] = [0, 1];
/// Of what goes over the links as a stream, if it is among the contenders.
const STREAMED: [&str; 4] = ["none", "lz4", "lzo", "zstd-1"];
const STREAM_TIME: Duration = Duration::from_secs(5);
const QUICK_STREAM_TIME: Duration = Duration::from_millis(100);

/// What to measure.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Options {
    /// The parts; none for all. The baseline is always measured before a pingpong.
    pub parts: Vec<Part>,
    /// Of messages, in octets; none for the paper's.
    pub sizes: Vec<usize>,
    /// Of links, in Mbit/s; none for the paper's.
    pub rates: Vec<f64>,
    /// Numbers of switches; none for 0 and 1.
    pub hops: Vec<usize>,
    /// None for all. No compression is always among them.
    pub contenders: Vec<Contender>,
    /// Names; none for telecom and a file of each kind.
    pub payloads: Vec<String>,
    /// Where files are, if there are any.
    pub data: Option<PathBuf>,
    /// Of each contender in each cell; none for the paper's numbers.
    pub messages: Option<usize>,
    /// Of the payload.
    pub seed: u64,
    /// At most 30 seconds: every row, of fewer messages.
    pub quick: bool,
}

/// What there is to tell while the experiment runs. Skipped are contenders and payloads.
pub type Update = crate::Update<Row>;

/// Why there are no rows.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no emulated network.
    #[error(transparent)]
    Emulator(#[from] EmulatorError),
    /// There is no payload.
    #[error(transparent)]
    Payload(#[from] PayloadError),
    /// A connection failed.
    #[error("a connection over the emulated link failed: {0}")]
    Connection(#[from] io::Error),
}

/// Runs the experiment.
///
/// # Errors
/// No emulated network, no payload, sockets that fail.
pub fn run(
    namespace: &Namespace,
    options: &Options,
    tell: &mut dyn FnMut(Update),
) -> Result<(), Error> {
    let payloads = Payload::chosen(&options.payloads, options.data.as_deref(), options.seed)?;
    let contenders = contenders(options, tell);
    let plan = Plan { options, payloads, contenders };
    let (cells, streams) = (plan.cells(), plan.streams());
    let total = cells.len() + streams.len();
    if !cells.is_empty() {
        plan.pingpong(namespace, &cells, total, tell)?;
    }
    for (number, (mbit, hops)) in streams.iter().enumerate() {
        let (done, what) = (cells.len() + number, format!("{mbit} Mbit/s, {hops} hops, streams"));
        tell(Update::Progress { done, total, what: what.clone() });
        match plan.stream(namespace, *mbit, *hops) {
            Ok(rows) => rows.into_iter().for_each(|row| tell(Update::Row(Box::new(row)))),
            Err(error) => tell(Update::Skipped { what, why: error.to_string() }),
        }
    }
    Ok(())
}

/// Those that were asked for and can be made, no compression first.
fn contenders(options: &Options, tell: &mut dyn FnMut(Update)) -> Vec<Contender> {
    let all = match options.contenders.is_empty() {
        true => Contender::all(),
        false => options.contenders.clone(),
    };
    let mut contenders = vec![Contender::NONE];
    for contender in all {
        match contender.check() {
            Ok(()) if contenders.contains(&contender) => {}
            Ok(()) => contenders.push(contender),
            Err(why) => {
                tell(Update::Skipped { what: contender.to_string(), why: why.to_string() });
            }
        }
    }
    contenders
}

/// What there is to do.
struct Plan<'a> {
    options: &'a Options,
    payloads: Vec<Payload>,
    contenders: Vec<Contender>,
}

impl Plan<'_> {
    fn wants(&self, part: Part) -> bool {
        self.options.parts.is_empty() || self.options.parts.contains(&part)
    }

    fn rates(&self) -> &[f64] {
        if self.options.rates.is_empty() { &RATES } else { &self.options.rates }
    }

    fn hops(&self) -> &[usize] {
        if self.options.hops.is_empty() { &HOPS } else { &self.options.hops }
    }

    /// Links without switches before those with.
    fn links(&self) -> Vec<(f64, usize)> {
        let rates =
            |hops: &usize| self.rates().iter().map(|rate| (*rate, *hops)).collect::<Vec<_>>();
        self.hops().iter().flat_map(rates).collect()
    }

    /// The baseline of each size first; then everything by payload, link and size.
    fn cells(&self) -> Vec<Cell<'_>> {
        let sizes = if self.options.sizes.is_empty() { &SIZES[..] } else { &self.options.sizes };
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
            seed: self.options.seed,
            quick: self.options.quick,
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

    /// The paper's numbers for 10, 100 and 1000 Mbit/s.
    fn messages(&self, ethernet: Ethernet) -> usize {
        let rate = ethernet.rate.unwrap_or(f64::MAX);
        let usual = match (rate, self.options.quick) {
            (..50e6, true) => 3,
            (..500e6, true) => 10,
            (_, true) => 25,
            (..50e6, false) => 5000,
            (..500e6, false) => 10_000,
            (_, false) => 20_000,
        };
        self.options.messages.unwrap_or(usual)
    }

    fn pingpong(
        &self,
        namespace: &Namespace,
        cells: &[Cell<'_>],
        total: usize,
        tell: &mut dyn FnMut(Update),
    ) -> Result<(), Error> {
        let wire = Wire::start(namespace, Ethernet::default())?;
        let [near, far] = wire.connect()?;
        let mut connections = [Connection::new(near)?, Connection::new(far)?];
        let costs = self.costs();
        let mut place = Place { wire: &wire, connections: &mut connections, costs: &costs };
        let mut baselines = Vec::new();
        for (done, cell) in cells.iter().enumerate() {
            let is_baseline = cell.ethernet.rate.is_none();
            let what = cell.to_string();
            tell(Update::Progress { done, total, what: what.clone() });
            if !cell.has_messages() {
                let why = "the file is shorter than a message".to_owned();
                tell(Update::Skipped { what, why });
                continue;
            }
            let contenders = if is_baseline { &[Contender::NONE][..] } else { &self.contenders };
            let known = baselines.iter().find(|(size, _)| *size == cell.size);
            let baseline_us = known.and_then(|(_, baseline): &(_, Option<f64>)| *baseline);
            let rows = Cell { baseline_us, ..*cell }.run(contenders, &mut place)?;
            for row in rows {
                if is_baseline {
                    baselines.push((cell.size, row.rtt_us));
                }
                tell(Update::Row(Box::new(row)));
            }
        }
        Ok(())
    }

    /// What codecs take here, as a native client would find out before it begins.
    fn costs(&self) -> Costs {
        let (mut samples, start) = (Vec::new(), Instant::now());
        for payload in &self.payloads {
            samples.extend(payload.messages(SAMPLE, 1, self.options.seed));
        }
        let samples: Vec<&[u8]> = samples.iter().map(Vec::as_slice).collect();
        Costs::measure(ALL, &samples, || start.elapsed())
    }

    /// The links that are filled.
    fn streams(&self) -> Vec<(f64, usize)> {
        let is_wanted = self.wants(Part::Bandwidth) || self.wants(Part::Throughput);
        // There is one switch or none.
        self.links().into_iter().filter(|(_, hops)| is_wanted && *hops < 2).collect()
    }

    fn stream(&self, namespace: &Namespace, mbit: f64, hops: usize) -> Result<Vec<Row>, Error> {
        let Some(payload) = self.payloads.first() else { return Ok(Vec::new()) };
        let cable = Cable::start(namespace, mbit, hops > 0)?;
        let (seed, quick) = (self.options.seed, self.options.quick);
        let time = if quick { QUICK_STREAM_TIME } else { STREAM_TIME };
        let stream = Stream { cable: &cable, mbit, hops, payload, time, seed, quick };
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
