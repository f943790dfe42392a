//! The policy of the paper of 2005: C. Krintz, S. Sucu, "Adaptive On-the-Fly Compression", IEEE
//! Transactions on Parallel and Distributed Systems.
//!
//! The policy follows the paper; numbers in parentheses are its sections. It differs where the
//! paper leaves something open or uses a service that a stream does not have:
//!
//! - In the paper the sensors of the Network Weather Service run beside the stream. Here the blocks
//!   of the stream are the measurement of the network (`network.rs`), and their compression and
//!   decompression times, compared with the training run, are the measurement of the processors.
//!   While no block is compressed, the forecasts of the processors do not change.
//! - The other end has no training run. The forecast of its load also contains how its processor
//!   compares with this one.

mod bench;
mod fit;
mod flights;
mod model;
mod network;
mod nws;
mod probing;
mod reference;
mod sorted;
#[cfg(test)]
mod tests;
mod training;

use core::time::Duration;

use groupwire_ace::{
    Candidate, Decision, Delivered, Duplex, Forecast, Packed, Policy, Settings, Situation,
};

pub use bench::{Bench, Point};
pub use fit::LinearFit;
pub use training::{Training, TrainingError};

use flights::{Flight, Flights};
use model::{Conditions, Stages};
use network::{Batch, Network, SENSOR};
use nws::Forecaster;
use probing::Probing;

/// The bounds of the measured speed of a processor relative to the training run. Values beyond
/// these bounds are due to errors of a clock or to a hostile peer.
const AVAILABILITY: (f64, f64) = (0.001, 100.0);
/// A block counts as held up by the transport if it waited for more than this share of the time
/// since the previous block.
const HELD: f64 = 0.2;
/// The codecs that every end can decompress: none and lz4. The paper does not use lz4.
const SURE_CODECS: u16 = 0b11;

/// The policy of the paper. It chooses from the codecs of its [`Training`], the result of measuring
/// the codecs on this machine. The choice is made by forecasts of the network and of both
/// processors, by the ratio of the last block, and by regression lines, for blocks of 32 KiB.
///
/// A stream is uncompressed until its bandwidth has been measured, which takes a round trip. Blocks
/// that are smaller than 32 KiB are sent uncompressed (section 5.1).
#[derive(Debug)]
pub struct Ace2005 {
    training: Training,
    block: usize,
    /// The codecs that the other end can decompress, one bit for each codec number.
    allowed: u16,
    network: Network,
    /// Forecasts of the time in seconds in which the application generates a byte, and of the speed
    /// of both processors relative to the training run.
    generation: Forecaster,
    local: Forecaster,
    remote: Forecaster,
    probing: Probing,
    flights: Flights,
    /// The index of the codec of the last compressed block, and the block's ratio (compressed bytes
    /// per plain byte).
    last: Option<(usize, f64)>,
    /// The time at which the last block was compressed, and whether more data were waiting when its
    /// codec was chosen.
    packed: Option<Duration>,
    had_more: bool,
    /// The number of blocks to send uncompressed as a measurement of the network.
    sensor: usize,
    /// The conditions under which the last codec was chosen.
    chosen: Chosen,
    forecast: Forecast,
}

/// The conditions under which the codec of a block was chosen.
#[derive(Debug, Clone, Copy, Default)]
struct Chosen {
    now: Duration,
    held: bool,
    alone: bool,
    is_probe: bool,
}

/// A codec with its expected result for a block.
#[derive(Debug, Clone, Copy)]
struct Expected {
    place: usize,
    ratio: f64,
    stages: Stages,
    seconds: f64,
}

/// One end of a stream with this policy, the block size of the paper and no history.
///
/// ```
/// use groupwire_papers::ace2005::{Training, stream};
/// let mut end = stream(&Training::reference());
/// assert_eq!(end.write(b"plain bytes"), 11);
/// ```
pub fn stream(training: &Training) -> Duplex {
    let block = training::BLOCK;
    let sizes = Settings { block, history: 0, ..Settings::always(Candidate::NONE) };
    let policy = Ace2005::new(training.clone(), block);
    Duplex::with_policy(&sizes, Box::new(policy)).expect("the sizes are within the bounds")
}

impl Ace2005 {
    /// A policy after a training run, for blocks of `block` bytes (32 KiB in the paper).
    pub fn new(training: Training, block: usize) -> Self {
        Ace2005 {
            training,
            block,
            allowed: SURE_CODECS,
            network: Network::new(),
            generation: Forecaster::new(),
            local: Forecaster::new(),
            remote: Forecaster::new(),
            probing: Probing::new(),
            flights: Flights::default(),
            last: None,
            packed: None,
            had_more: false,
            sensor: 0,
            chosen: Chosen::default(),
            forecast: Forecast::default(),
        }
    }

    /// The forecasts of all conditions. `None` if the bandwidth is unknown.
    fn conditions(&self) -> Option<Conditions> {
        Some(Conditions {
            bandwidth: self.network.bandwidth()?,
            // While it is not measured how fast the application generates data, the sequential
            // model applies, as in the paper (3.2).
            generation: self.generation.forecast().unwrap_or(f64::MAX),
            local: self.local.forecast().unwrap_or(1.0),
            remote: self.remote.forecast().unwrap_or(1.0),
        })
    }

    /// Adds a measurement of how fast the application generates data: the time since the last block
    /// was compressed, or 0 if more data are already waiting. Stores the conditions under which the
    /// codec is chosen.
    fn note_generation(&mut self, now: Duration, bytes: usize, situation: &Situation) {
        let ahead = self.had_more || situation.more > 0;
        let idle = self.packed.map(|packed| now.saturating_sub(packed));
        if let Some(idle) = idle {
            let per_byte = idle.as_secs_f64() / bytes.max(1) as f64;
            self.generation.add(if ahead { 0.0 } else { per_byte });
        }
        self.had_more = situation.more > 0;
        self.chosen = Chosen { now, held: ahead, alone: self.flights.is_empty(), is_probe: false };
    }

    /// The codec with the least expected time for a block of `plain` bytes.
    fn best(&self, plain: usize, conditions: &Conditions) -> Option<Expected> {
        let expected = |(place, choice): (usize, groupwire_codecs::Choice)| {
            let is_allowed = self.allowed.checked_shr(choice.codec.into()).unwrap_or(0) & 1 == 1;
            is_allowed.then(|| self.expected(place, plain, conditions))
        };
        let all = self.training.codecs().enumerate().filter_map(expected);
        // If the slowest stage takes equally long for two codecs, the one with the least total work
        // is better.
        all.min_by(|a, b| {
            let by_sum = || a.stages.sum().total_cmp(&b.stages.sum());
            a.seconds.total_cmp(&b.seconds).then_with(by_sum)
        })
    }

    fn expected(&self, place: usize, plain: usize, conditions: &Conditions) -> Expected {
        let ratio = match self.last {
            Some((last, ratio)) => self.training.ratio(last, place, ratio),
            None => self.training.mean_ratio(place),
        };
        let times = self.training.times(place, ratio, plain);
        let stages = conditions.stages(plain, ratio, times);
        Expected { place, ratio, stages, seconds: conditions.seconds(&stages) }
    }

    /// Chooses the index of a codec for a block of `plain` bytes. `None` stands for no compression.
    fn decide(&mut self, now: Duration, plain: usize) -> Option<usize> {
        let conditions = self.conditions()?;
        let best = self.best(plain, &conditions)?;
        let seconds_plain = conditions.seconds(&conditions.plain(plain));
        let pays = best.seconds < seconds_plain;
        if pays && self.sensor == 0 && self.network.is_due(now) {
            self.sensor = SENSOR.div_ceil(plain);
        }
        let is_sensor = self.sensor > 0;
        self.sensor = self.sensor.saturating_sub(1);
        let is_compressed = if is_sensor {
            false
        } else if pays {
            self.probing.compressing();
            true
        } else {
            self.chosen.is_probe = self.probing.is_due(now, best.stages.sum());
            self.chosen.is_probe
        };
        self.forecast = Forecast {
            bandwidth: conditions.bandwidth,
            round_trip: self.network.round_trip(),
            ratio: if is_compressed { best.ratio } else { 1.0 },
            seconds: if is_compressed { best.seconds } else { seconds_plain },
            seconds_plain,
            is_pipeline: conditions.is_pipeline(),
            local_load: 1.0 / conditions.local,
            remote_load: 1.0 / conditions.remote,
        };
        is_compressed.then_some(best.place)
    }

    /// Finds out from the measured times whether compressing a block paid, and adapts the time to
    /// the next probe (4.1). A probe is a block that is compressed only to find that out.
    fn judge(&mut self, flight: &Flight, unpacking: f64) {
        let Some(conditions) = self.conditions() else { return };
        let actual = Stages {
            packing: flight.took.as_secs_f64(),
            unpacking,
            ..conditions.stages(flight.plain, flight.wire as f64 / flight.plain as f64, (0.0, 0.0))
        };
        if conditions.seconds(&actual) < conditions.seconds(&conditions.plain(flight.plain)) {
            self.probing.paid();
        } else if flight.is_probe {
            self.probing.did_not_pay();
        }
    }
}

impl Policy for Ace2005 {
    fn choose(&mut self, now: Duration, block: &[u8], situation: &Situation) -> Decision {
        self.note_generation(now, block.len(), situation);
        // Incomplete blocks are not compressed, nor is any block before the first measurement of
        // the network.
        let place = if block.len() >= self.block { self.decide(now, block.len()) } else { None };
        let choice = place.and_then(|place| self.training.codecs().nth(place));
        let candidate =
            choice.map_or(Candidate::NONE, |choice| Candidate { choice, history: false });
        Decision { candidate }
    }

    fn packed(&mut self, now: Duration, packed: &Packed) {
        let plain = packed.plain.max(1);
        let ratio = packed.wire as f64 / plain as f64;
        let mut unpacking = 0.0;
        if let Some(place) = self.training.place(packed.candidate.choice) {
            let times = self.training.times(place, ratio, plain);
            self.last = Some((place, ratio));
            add_share(&mut self.local, times.0, packed.took);
            // A block that did not become smaller is sent uncompressed.
            unpacking = if packed.wire < packed.plain { times.1 } else { 0.0 };
        }
        let interval = now.saturating_sub(self.packed.unwrap_or(self.chosen.now));
        let waited = interval.saturating_sub(packed.took).as_secs_f64();
        self.flights.push(Flight {
            handed: now,
            interval,
            took: packed.took,
            held: self.chosen.held && waited > HELD * interval.as_secs_f64(),
            alone: self.chosen.alone,
            plain,
            wire: packed.wire,
            unpacking,
            is_probe: self.chosen.is_probe,
        });
        self.packed = Some(now);
    }

    fn delivered(&mut self, now: Duration, delivered: &Delivered) {
        let mut batch = Batch::default();
        let mut unpacking = 0.0;
        // The block to judge is a probe if there is one, otherwise the last block that was
        // compressed.
        let mut judged: Option<Flight> = None;
        for flight in self.flights.take(delivered.blocks) {
            batch.add(&flight);
            unpacking += flight.unpacking;
            let is_compressed = flight.unpacking > 0.0 || flight.is_probe;
            if is_compressed && !judged.is_some_and(|judged| judged.is_probe) {
                judged = Some(flight);
            }
        }
        self.network.learn(now, delivered, &batch, self.flights.is_empty());
        if unpacking > 0.0 {
            add_share(&mut self.remote, unpacking, delivered.unpacking);
        }
        if let Some(flight) = judged {
            let share = if unpacking > 0.0 { flight.unpacking / unpacking } else { 0.0 };
            self.judge(&flight, share * delivered.unpacking.as_secs_f64());
        }
    }

    fn peer_has(&mut self, codecs: u16, _: bool) {
        self.allowed = codecs;
    }

    fn window(&self) -> usize {
        self.network.window()
    }

    fn forecast(&self) -> Forecast {
        self.forecast
    }
}

/// Adds a measurement of the speed of a processor: work that took `trained` seconds in the training
/// run took `took` now.
fn add_share(forecaster: &mut Forecaster, trained: f64, took: Duration) {
    if !took.is_zero() {
        let share = trained / took.as_secs_f64();
        forecaster.add(share.clamp(AVAILABILITY.0, AVAILABILITY.1));
    }
}
