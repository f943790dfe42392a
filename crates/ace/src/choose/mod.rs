//! The default policy.

mod candidate;
mod content;
mod least;
mod load;
mod pipe;
mod reference;
mod sample;
#[cfg(test)]
mod tests;

use alloc::vec::Vec;
use core::time::Duration;

use groupwire_codecs::{Costs, by_number};

use self::candidate::Known;
use self::content::Contents;
use self::load::Load;
use self::pipe::Pipe;
use self::reference::Row;
use crate::{Candidate, Decision, Delivered, Forecast, Packed, Policy, Situation};

/// Bytes of a block's header.
const HEADER: f64 = 4.0;
/// No compression takes so long at each end, seconds per byte: it is copied.
const COPY: f64 = 0.05e-9;
/// Nothing is compressed that is not expected to gain this share of a block's time.
const WORTH: f64 = 0.02;
/// Work of our processor that nobody waits for counts so much nevertheless: others may have a use for it.
const OURS: f64 = 0.01;
/// Until the other end has said what it has: no compression and lz4.
const AT_FIRST: u16 = 0b11;
/// Whether our processor is less busy than it was is found out by candidates that take no more than this times what the
/// lightest one takes.
const LIGHT: f64 = 2.0;
/// A block of such a ratio says nothing of a processor's load: it is skipped rather than packed.
const SKIPPED: f64 = 0.93;
/// Blocks whose ratio is so far from what was expected are of another kind.
const OTHER: f64 = 0.1;
/// Bytes of a message by which machines are compared: costs were measured with such.
const MESSAGE: usize = 1400;
/// Beforehand a machine is taken to be no faster or slower than this.
const FACTORS: [f64; 2] = [0.25, 4.0];
/// Work of the other end below this is too short for its clock, seconds.
const SHORT: f64 = 5e-6;

/// Chooses by what it measures.
#[derive(Debug)]
pub struct Adaptive {
    candidates: Vec<Known>,
    /// Codecs of the other end, and whether it keeps history.
    peer: (u16, bool),
    contents: Contents,
    pipe: Pipe,
    /// Of our processor and of the other end's.
    local: Load,
    remote: Load,
    /// Of the block that was chosen for last.
    entropy: Option<f64>,
    expected: Expected,
    /// What the last block was packed by, and what it says of zstd-1.
    before: Option<(usize, f64)>,
    /// Blocks so far.
    blocks: u64,
    /// Whether the last block's candidate was chosen only because little was known of it.
    in_hope: bool,
}

/// What was expected of a block.
#[derive(Debug, Clone, Copy, Default)]
struct Expected {
    /// Of zstd-1.
    reference: f64,
    ratio: f64,
    seconds: f64,
    seconds_plain: f64,
    is_pipeline: bool,
}

impl Adaptive {
    /// Chooses among these; empty for [`Adaptive::candidates`]. No compression is always among them. `costs` is what is
    /// believed at first, `block` the usual size of a block.
    pub fn new(candidates: &[Candidate], costs: &Costs, block: usize) -> Self {
        let listed = match candidates {
            [] => Self::candidates(),
            _ => candidates.to_vec(),
        };
        let factor = factor(costs);
        let rows = listed.iter().filter(|candidate| candidate.choice.codec != 0);
        let rows = rows.map(|candidate| Row::of(*candidate).times(factor));
        Adaptive {
            candidates: rows.map(Known::new).collect(),
            peer: (AT_FIRST, false),
            contents: Contents::default(),
            pipe: Pipe::new(block),
            local: Load::default(),
            remote: Load::default(),
            entropy: None,
            expected: Expected::default(),
            before: None,
            blocks: 0,
            in_hope: false,
        }
    }

    /// What is worth choosing among, of the codecs that this build has.
    pub fn candidates() -> Vec<Candidate> {
        let all = reference::CANDIDATES.iter();
        let all = all.map(|(codec, level, history)| reference::candidate(*codec, *level, *history));
        all.filter(|candidate| by_number(candidate.choice.codec).is_some()).collect()
    }

    fn is_allowed(&self, candidate: Candidate) -> bool {
        let (codecs, history) = self.peer;
        codecs >> candidate.choice.codec & 1 != 0 && (history || !candidate.history)
    }

    /// The candidate that gets a block there soonest, and when; and the one that is hoped to.
    fn best(&self, stages: &Stages, size: f64, reference: f64) -> Option<(usize, f64, usize)> {
        let light = LIGHT * self.cheapest(size, reference).map_or(0.0, |(_, least)| least);
        let (mut best, mut hoped) = ((None, f64::INFINITY), (0, f64::INFINITY));
        for (at, known) in self.candidates.iter().enumerate() {
            if !self.is_allowed(known.candidate) {
                continue;
            }
            let alone = known.packing(size, reference);
            let packing = alone * if alone <= light { stages.local_now } else { stages.local };
            let unpacking = stages.remote * known.unpacking(size, reference);
            let wire = size * known.ratio(reference) + HEADER;
            let time = stages.time(packing, wire, unpacking);
            if time < best.1 {
                best = (Some(at), time);
            }
            let in_hope = time * known.hope(self.blocks);
            if in_hope < hoped.1 {
                hoped = (at, in_hope);
            }
        }
        best.0.map(|at| (at, best.1, hoped.0))
    }

    /// Learns what a candidate made of the last block. Returns what unpacking that should take, seconds, with a processor
    /// to itself.
    fn learn(&mut self, now: Duration, at: usize, packed: &Packed) -> f64 {
        let (size, took) = (packed.plain as f64, packed.took.as_secs_f64());
        let known = &self.candidates[at];
        let ratio = (packed.wire as f64 / size.max(1.0)).min(1.0);
        let reference = known.of_reference(ratio);
        let expected = known.packing(size, reference);
        let unpacking = known.unpacking(size, reference);
        if let Some((other, before)) = self.before.filter(|(other, _)| *other != at) {
            let beyond = ratio - known.ratio(before);
            self.bend(at, other, before, beyond);
        }
        if ratio < SKIPPED {
            self.local.learn(now, took, expected);
        }
        let known = &mut self.candidates[at];
        let follow = known.follow(self.blocks);
        known.took(size, reference, took / self.local.latest(), follow);
        known.choose(self.blocks, self.in_hope);
        if (reference - self.expected.reference).abs() > OTHER {
            self.candidates.iter_mut().for_each(Known::forget);
        }
        self.contents.learn(self.entropy.unwrap_or(8.0), reference);
        self.before = (reference < 0.95).then_some((at, reference));
        unpacking
    }

    /// Learns that one candidate's ratio was worse by `beyond` than expected from another's of the block before: half of
    /// it is due to each.
    fn bend(&mut self, at: usize, other: usize, reference: f64, beyond: f64) {
        for (at, share) in [(at, 0.5), (other, -0.5)] {
            let known = &mut self.candidates[at];
            known.bend(reference, share * beyond * known.follow(self.blocks));
        }
    }

    /// The one that packs in the least time.
    fn cheapest(&self, size: f64, reference: f64) -> Option<(usize, f64)> {
        let allowed = self.candidates.iter().enumerate();
        let allowed = allowed.filter(|(_, known)| self.is_allowed(known.candidate));
        let times = allowed.map(|(at, known)| (at, known.packing(size, reference)));
        times.min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// Chooses; `None` for no compression.
    fn pick(&mut self, block: &[u8], stages: &Stages) -> Option<usize> {
        let size = block.len() as f64;
        let plain = stages.time(size * COPY, size + HEADER, size * COPY);
        let enough = plain - WORTH * size / stages.bandwidth;
        self.expected.seconds_plain = plain;
        self.expected.seconds = plain;
        self.expected.ratio = 1.0;
        (self.entropy, self.in_hope) = (None, false);
        // Whatever is in the block.
        let (cheapest, least) = self.cheapest(size, 0.3)?;
        if stages.time(stages.local_now * least, 0.0, 0.0) > enough {
            return None;
        }
        let entropy = sample::entropy(block);
        self.entropy = Some(entropy);
        let reference = self.contents.ratio(entropy);
        self.expected.reference = reference;
        let (best, time, hoped) = self.best(stages, size, reference)?;
        if time < enough {
            self.contents.pays(entropy);
            self.expected.ratio = self.candidates[hoped].ratio(reference);
            self.expected.seconds = time;
            self.in_hope = best != hoped;
            return Some(hoped);
        }
        let could = self.best(stages, size, 0.5 * reference)?;
        (could.1 < enough && self.contents.is_due(entropy)).then_some(cheapest)
    }
}

/// How much slower than the reference a machine is that codecs cost so much on.
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

/// What a block meets.
struct Stages {
    bandwidth: f64,
    /// How long the link and the other end have work, seconds.
    link: f64,
    receiver: f64,
    /// Factors of the processors' times: of ours as it was measured last, and as it may be by now.
    local: f64,
    local_now: f64,
    remote: f64,
    is_pipeline: bool,
}

impl Stages {
    /// The time that a block takes of the link, with the time in which the link waits for it, and the time by which the
    /// other end falls behind the link.
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
        let at = self.candidates.iter().position(|known| known.candidate == packed.candidate);
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
