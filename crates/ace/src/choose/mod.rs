//! The default policy, which chooses a way to compress each block by a model of the link, of both
//! processors and of the content.
//!
//! docs/ace.md describes the model. The experiment `ace` of `groupwire-lab` compares its choices
//! with the best fixed candidate on links from 1 Mbit/s to 10 Gbit/s. The constants that name no
//! other source were chosen by that experiment. A candidate is a codec with its level; a ratio is
//! compressed bytes per plain byte; the load of a processor is how much slower that processor is
//! than expected. Blocks in flight are sent and not acknowledged yet; the history is the last bytes
//! of the stream, which codecs may use as their dictionary.

mod candidate;
mod content;
mod load;
mod pipe;
mod reference;
mod round_trip;
mod sample;
#[cfg(test)]
mod tests;

use alloc::vec::Vec;
use core::time::Duration;

use groupwire_codecs::{Costs, by_number};

use self::candidate::CandidateModel;
use self::content::Contents;
use self::load::Load;
use self::pipe::Pipe;
use self::reference::Row;
use crate::{Candidate, Decision, Delivered, Forecast, Packed, Policy, Situation};

/// The length of a frame header in bytes.
const HEADER: f64 = 4.0;
/// The time in seconds per byte that each end takes for an uncompressed block, which it only
/// copies.
const COPY: f64 = 0.05e-9;
/// Compression must save at least this share of the time that the link takes for the uncompressed
/// block. A smaller gain is within the error of the model.
const WORTH: f64 = 0.02;
/// The weight of processor time of this end that does not delay the stream. It is not zero, because
/// other programs may need the processor.
const OURS: f64 = 0.01;
/// The codecs to choose from before the other end has sent its hello, which names the codecs that
/// it has: none and lz4.
const AT_FIRST: u16 = 0b11;
/// A candidate is light if it takes at most this many times as long as the fastest one. Only for
/// light candidates the decayed load is used, so that a wrong guess costs little. (The load decays
/// while it is not measured.)
const LIGHT: f64 = 2.0;
/// The ratio from which on a block gives no measurement of the load, because codecs skip
/// incompressible data.
const INCOMPRESSIBLE: f64 = 0.93;
/// The content counts as changed if the ratio differs from the expected one by more than this.
const CHANGED: f64 = 0.1;
/// The size in bytes for which the costs of machines are compared, since [`Costs`] are measured
/// with messages of this size.
const MESSAGE: usize = 1400;
/// The bounds of the factor by which this machine is assumed to be slower than the machine of the
/// reference costs.
const FACTORS: [f64; 2] = [0.25, 4.0];
/// The shortest decompression time that gives a measurement, in seconds. Acknowledgements have a
/// resolution of 1 µs.
const SHORT: f64 = 5e-6;

/// A policy that chooses by measurements of the running stream.
#[derive(Debug)]
pub struct Adaptive {
    candidates: Vec<CandidateModel>,
    /// The codecs of the other end, one bit for each codec number, and whether that end keeps
    /// history.
    peer: (u16, bool),
    contents: Contents,
    pipe: Pipe,
    /// The load of this end's processor, and of the other end's.
    local: Load,
    remote: Load,
    /// For the block whose candidate was chosen last: its entropy, if that was measured, and the
    /// expectations for the block.
    entropy: Option<f64>,
    expected: Expected,
    /// For the last compressed block: the index of its candidate, and the ratio of zstd-1 that
    /// follows from the result.
    before: Option<(usize, f64)>,
    /// The number of blocks so far.
    blocks: u64,
    /// Whether the last candidate was chosen only because of its bonus, which candidates get that
    /// were not tried for long.
    for_bonus: bool,
}

/// The expectations for a block. Times are in seconds.
#[derive(Debug, Clone, Copy, Default)]
struct Expected {
    /// The ratio that zstd-1 would have for the block.
    reference: f64,
    ratio: f64,
    seconds: f64,
    seconds_plain: f64,
    is_pipeline: bool,
}

impl Adaptive {
    /// A policy that chooses from `candidates`, or from [`Adaptive::candidates`] if that is empty,
    /// and no compression. `costs` are the costs of codecs on this machine, used until blocks have
    /// been measured; `block` is the size of a complete block in bytes.
    pub fn new(candidates: &[Candidate], costs: &Costs, block: usize) -> Self {
        let listed = match candidates {
            [] => Self::candidates(),
            _ => candidates.to_vec(),
        };
        let factor = factor(costs);
        let rows = listed.iter().filter(|candidate| candidate.choice.codec != 0);
        let rows = rows.map(|candidate| Row::of(*candidate).times(factor));
        Adaptive {
            candidates: rows.map(CandidateModel::new).collect(),
            peer: (AT_FIRST, false),
            contents: Contents::default(),
            pipe: Pipe::new(block),
            local: Load::default(),
            remote: Load::default(),
            entropy: None,
            expected: Expected::default(),
            before: None,
            blocks: 0,
            for_bonus: false,
        }
    }

    /// The default candidates whose codecs this build has.
    pub fn candidates() -> Vec<Candidate> {
        let all = reference::CANDIDATES.iter();
        let all = all.map(|(codec, level, history)| reference::candidate(*codec, *level, *history));
        all.filter(|candidate| by_number(candidate.choice.codec).is_some()).collect()
    }

    fn is_allowed(&self, candidate: Candidate) -> bool {
        let (codecs, history) = self.peer;
        codecs >> candidate.choice.codec & 1 != 0 && (history || !candidate.history)
    }

    /// The index of the candidate with the least expected time, and that time in seconds; then the
    /// index of the candidate with the least time when bonuses count.
    fn best(&self, stages: &Stages, size: f64, reference: f64) -> Option<(usize, f64, usize)> {
        let light = LIGHT * self.cheapest(size, reference).map_or(0.0, |(_, least)| least);
        let (mut best, mut explored) = ((None, f64::INFINITY), (0, f64::INFINITY));
        for (at, model) in self.candidates.iter().enumerate() {
            if !self.is_allowed(model.candidate) {
                continue;
            }
            let alone = model.packing(size, reference);
            let packing = alone * if alone <= light { stages.local_now } else { stages.local };
            let unpacking = stages.remote * model.unpacking(size, reference);
            let wire = size * model.ratio(reference) + HEADER;
            let time = stages.time(packing, wire, unpacking);
            if time < best.1 {
                best = (Some(at), time);
            }
            let with_bonus = time * model.bonus_factor(self.blocks);
            if with_bonus < explored.1 {
                explored = (at, with_bonus);
            }
        }
        best.0.map(|at| (at, best.1, explored.0))
    }

    /// Learns from the result of the last block, compressed by the candidate with index `at`.
    /// Returns the block's expected decompression time without load, in seconds.
    fn learn(&mut self, now: Duration, at: usize, packed: &Packed) -> f64 {
        let (size, took) = (packed.plain as f64, packed.took.as_secs_f64());
        let model = &self.candidates[at];
        let ratio = (packed.wire as f64 / size.max(1.0)).min(1.0);
        let reference = model.reference_ratio(ratio);
        let expected = model.packing(size, reference);
        let unpacking = model.unpacking(size, reference);
        if let Some((other, before)) = self.before.filter(|(other, _)| *other != at) {
            let beyond = ratio - model.ratio(before);
            self.bend(at, other, before, beyond);
        }
        if ratio < INCOMPRESSIBLE {
            self.local.learn(now, took, expected);
        }
        let model = &mut self.candidates[at];
        let learning_rate = model.learning_rate(self.blocks);
        model.learn_time(size, reference, took / self.local.latest(), learning_rate);
        model.note_choice(self.blocks, self.for_bonus);
        if (reference - self.expected.reference).abs() > CHANGED {
            self.candidates.iter_mut().for_each(CandidateModel::reset_patience);
        }
        self.contents.learn(self.entropy.unwrap_or(8.0), reference);
        self.before = (reference < 0.95).then_some((at, reference));
        unpacking
    }

    /// Learns that the ratio of candidate `at` was higher by `beyond` than the ratio of candidate
    /// `other` for the previous block had predicted. Half of the difference is attributed to each
    /// of the two candidates.
    fn bend(&mut self, at: usize, other: usize, reference: f64, beyond: f64) {
        for (at, share) in [(at, 0.5), (other, -0.5)] {
            let model = &mut self.candidates[at];
            model.bend(reference, share * beyond * model.learning_rate(self.blocks));
        }
    }

    /// The index of the candidate with the least compression time, and that time in seconds.
    fn cheapest(&self, size: f64, reference: f64) -> Option<(usize, f64)> {
        let allowed = self.candidates.iter().enumerate();
        let allowed = allowed.filter(|(_, model)| self.is_allowed(model.candidate));
        let times = allowed.map(|(at, model)| (at, model.packing(size, reference)));
        times.min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// Chooses the index of a candidate; `None` for no compression.
    fn pick(&mut self, block: &[u8], stages: &Stages) -> Option<usize> {
        let size = block.len() as f64;
        let plain = stages.time(size * COPY, size + HEADER, size * COPY);
        let enough = plain - WORTH * size / stages.bandwidth;
        self.expected.seconds_plain = plain;
        self.expected.seconds = plain;
        self.expected.ratio = 1.0;
        (self.entropy, self.for_bonus) = (None, false);
        // If even the fastest candidate would not pay if it compressed the block to nothing, no
        // candidate can.
        let (cheapest, least) = self.cheapest(size, 0.3)?;
        if stages.time(stages.local_now * least, 0.0, 0.0) > enough {
            return None;
        }
        let entropy = sample::entropy(block);
        self.entropy = Some(entropy);
        let reference = self.contents.ratio(entropy);
        self.expected.reference = reference;
        let (best, time, explored) = self.best(stages, size, reference)?;
        if time < enough {
            self.contents.note_gain(entropy);
            self.expected.ratio = self.candidates[explored].ratio(reference);
            self.expected.seconds = time;
            self.for_bonus = best != explored;
            return Some(explored);
        }
        let could = self.best(stages, size, 0.5 * reference)?;
        (could.1 < enough && self.contents.is_probe_due(entropy)).then_some(cheapest)
    }
}

/// The factor by which a machine with these costs is slower than the reference machine.
fn factor(costs: &Costs) -> f64 {
    let reference = Costs::reference();
    let time = |costs: &Costs| {
        let of = |candidate: &(u8, Option<i8>, bool)| {
            let (codec, level, history) = *candidate;
            f64::from(costs.of(reference::candidate(codec, level, history).choice).at(MESSAGE))
        };
        reference::CANDIDATES.iter().take(4).map(of).sum::<f64>()
    };
    (time(costs) / time(&reference)).clamp(FACTORS[0], FACTORS[1])
}

/// The conditions under which a block is sent.
struct Stages {
    bandwidth: f64,
    /// How long the link, and the other end, will be busy with blocks in flight, in seconds.
    link: f64,
    receiver: f64,
    /// The load of this end's processor at its last measurement, the same decayed since then, and
    /// the load of the other end's.
    local: f64,
    local_now: f64,
    remote: f64,
    is_pipeline: bool,
}

impl Stages {
    /// The cost of a block in seconds: the time that it takes on the link, the time in which the
    /// link waits for the block, and the time by which the other end falls behind the link.
    fn time(&self, packing: f64, wire: f64, unpacking: f64) -> f64 {
        let wire = wire / self.bandwidth;
        let arrival = self.link.max(packing) + wire;
        let behind = (self.receiver - arrival).max(0.0) + unpacking;
        let hidden = if self.is_pipeline { wire } else { 0.0 };
        arrival - self.link + (behind - hidden).max(0.0) + OURS * packing
    }
}

impl Policy for Adaptive {
    fn choose(&mut self, now: Duration, block: &[u8], situation: &Situation) -> Decision {
        self.blocks += 1;
        let (link, receiver) = self.pipe.work(now.as_secs_f64());
        let is_pipeline = !situation.flushed || situation.more > 0 || !self.pipe.is_empty();
        self.expected.is_pipeline = is_pipeline;
        let stages = Stages {
            bandwidth: self.pipe.bandwidth(),
            link,
            receiver,
            local: self.local.latest(),
            local_now: self.local.factor(now),
            remote: self.remote.factor(now),
            is_pipeline,
        };
        let picked = self.pick(block, &stages);
        let candidate = picked.map_or(Candidate::NONE, |at| self.candidates[at].candidate);
        Decision { candidate }
    }

    fn packed(&mut self, now: Duration, packed: &Packed) {
        let at = self.candidates.iter().position(|model| model.candidate == packed.candidate);
        let unpacking = at.map_or(0.0, |at| self.learn(now, at, packed));
        let load = self.remote.factor(now);
        self.pipe.sent(now.as_secs_f64(), packed.wire as f64 + HEADER, unpacking, load);
    }

    fn delivered(&mut self, now: Duration, delivered: &Delivered) {
        let load = self.remote.factor(now);
        let unpacked = self.pipe.delivered(now.as_secs_f64(), delivered, load);
        if unpacked.expected > SHORT {
            self.remote.learn(now, unpacked.took, unpacked.expected);
        }
    }

    fn peer_has(&mut self, codecs: u16, history: bool) {
        self.peer = (codecs, history);
    }

    fn window(&self) -> usize {
        self.pipe.window() as usize
    }

    fn forecast(&self) -> Forecast {
        Forecast {
            bandwidth: if self.pipe.is_measured() { self.pipe.bandwidth() } else { 0.0 },
            round_trip: self.pipe.round_trip(),
            ratio: self.expected.ratio,
            seconds: self.expected.seconds,
            seconds_plain: self.expected.seconds_plain,
            is_pipeline: self.expected.is_pipeline,
            local_load: self.local.latest(),
            remote_load: self.remote.latest(),
        }
    }
}
