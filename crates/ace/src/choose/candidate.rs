//! The model of one candidate, which is one way to compress a block: its expected ratios and times.
//! A ratio is compressed bytes per plain byte. The ratio of zstd-1 is the reference from which the
//! ratios of all candidates are derived.
//!
//! The cost table ([`reference`](super::reference)) has the costs of each candidate on a reference
//! machine. Load is how much slower work is than expected, because of other programs.

use super::reference::Row;
use crate::Candidate;

/// If zstd-1 has a ratio above the first of these, codecs need the time that they need for
/// incompressible blocks; if it is below the second, the time for compressible ones. In between the
/// time is interpolated.
const INCOMPRESSIBLE: f64 = 0.97;
const COMPRESSIBLE: f64 = 0.93;
/// The upper bounds of the ratio of zstd-1 in each class of blocks. Compression times are learned
/// for each class separately.
const CLASSES: [f64; 4] = [0.25, 0.55, COMPRESSIBLE, f64::INFINITY];
/// The weight of a new measurement in the learned times and ratios.
const LEARNING_RATE: f64 = 0.1;
/// The weight of a new measurement of a candidate that was not chosen for a long time. Other
/// candidates have [`LEARNING_RATE`].
const LEARNING_RATE_UNKNOWN: f64 = 0.4;
/// The largest factor by which learned times may differ from the cost table: machines are assumed
/// to differ in speed by no more.
const TIME_LIMIT: f64 = 4.0;
/// The largest factor by which one measurement may differ from the learned time. A larger
/// difference is due to load.
const STEP_LIMIT: f64 = 1.5;
/// The largest difference of a learned bend (see [`Row::bend`]) from the bend of the cost table.
const BEND_LIMIT: f64 = 0.3;
/// The first value of a candidate's patience: the number of blocks without being chosen after which
/// the candidate gets the full [`BONUS`]. The patience doubles each time that the candidate is
/// chosen for its bonus alone, up to the next constant.
const PATIENCE: f64 = 32.0;
const LONGEST_PATIENCE: f64 = 1024.0;
/// The largest bonus: the share by which the expected time of a candidate is shortened if it was
/// not chosen for long, so that it is tried again.
const BONUS: f64 = 0.15;

/// The model of one candidate, which starts with the candidate's row of the cost table.
#[derive(Debug, Clone, Copy)]
pub(super) struct CandidateModel {
    pub(super) candidate: Candidate,
    /// The costs of the candidate by the cost table. They are used until the candidate has been
    /// measured.
    row: Row,
    /// The learned bend: how the candidate's ratio follows from that of zstd-1 (see [`Row::bend`]).
    bend: f64,
    /// For each class of blocks: the learned compression time divided by that of the cost table.
    slower: [f64; CLASSES.len()],
    /// The number of the last block for which the candidate was chosen.
    chosen: u64,
    /// The number of blocks until the candidate gets the full bonus.
    patience: f64,
}

impl CandidateModel {
    pub(super) fn new(row: Row) -> Self {
        CandidateModel {
            candidate: row.candidate,
            row,
            bend: row.bend,
            slower: [1.0; CLASSES.len()],
            chosen: 0,
            patience: PATIENCE,
        }
    }

    /// The expected ratio of this candidate for a block that zstd-1 compresses to `ratio`.
    pub(super) fn ratio(&self, ratio: f64) -> f64 {
        (ratio + self.bend * ratio * (1.0 - ratio)).clamp(0.0, 1.0)
    }

    /// How long ago the candidate was last chosen, as of block `number`: 0 if it was just chosen, 1
    /// after `patience` blocks or more.
    fn staleness(&self, number: u64) -> f64 {
        ((number - self.chosen) as f64 / self.patience).min(1.0)
    }

    /// The weight of a measurement at block `number`.
    pub(super) fn learning_rate(&self, number: u64) -> f64 {
        LEARNING_RATE.max(LEARNING_RATE_UNKNOWN * self.staleness(number))
    }

    /// The factor by which the bonus shortens the expected time of this candidate at block
    /// `number`.
    pub(super) fn bonus_factor(&self, number: u64) -> f64 {
        1.0 - BONUS * self.staleness(number)
    }

    /// Notes that the candidate was chosen for block `number`. `for_bonus` says that it was chosen
    /// only because of its bonus.
    pub(super) fn note_choice(&mut self, number: u64, for_bonus: bool) {
        self.chosen = number;
        self.patience =
            if for_bonus { (2.0 * self.patience).min(LONGEST_PATIENCE) } else { PATIENCE };
    }

    /// Resets the number of blocks until the full bonus, because the content has changed.
    pub(super) fn reset_patience(&mut self) {
        self.patience = PATIENCE;
    }

    /// The ratio that zstd-1 is expected to have for a block that this candidate compresses to
    /// `ratio`.
    pub(super) fn reference_ratio(&self, ratio: f64) -> f64 {
        if self.bend.abs() < 1e-6 || ratio >= 1.0 {
            return ratio.min(1.0);
        }
        let sum = 1.0 + self.bend;
        let root = libm::sqrt((sum * sum - 4.0 * self.bend * ratio).max(0.0));
        ((sum - root) / (2.0 * self.bend)).clamp(0.0, 1.0)
    }

    /// The expected compression time in seconds, without load.
    pub(super) fn packing(&self, size: f64, ratio: f64) -> f64 {
        self.slower[class(ratio)] * self.table_time(size, ratio)
    }

    /// The compression time by the cost table, in seconds.
    fn table_time(&self, size: f64, ratio: f64) -> f64 {
        let shape = match ratio {
            ..0.5 => 0.35 + 1.3 * ratio,
            ..COMPRESSIBLE => 1.0,
            ..INCOMPRESSIBLE => {
                1.0 + (self.row.incompressible - 1.0) * (ratio - COMPRESSIBLE)
                    / (INCOMPRESSIBLE - COMPRESSIBLE)
            }
            _ => self.row.incompressible,
        };
        1e-9 * size * self.row.packing * shape
    }

    /// The expected decompression time in seconds, without load.
    pub(super) fn unpacking(&self, size: f64, ratio: f64) -> f64 {
        let shape = if ratio < COMPRESSIBLE { 0.5 + ratio } else { 0.05 };
        1e-9 * size * self.row.unpacking * shape
    }

    /// Learns from a compression time in seconds, from which the load has been removed.
    pub(super) fn learn_time(&mut self, size: f64, ratio: f64, took: f64, learning_rate: f64) {
        let expected = self.table_time(size, ratio).max(1e-9);
        let slower = &mut self.slower[class(ratio)];
        // A measurement that differs much is due to load, so the difference is limited.
        let seen = (took / expected)
            .clamp(*slower / STEP_LIMIT, *slower * STEP_LIMIT)
            .clamp(1.0 / TIME_LIMIT, TIME_LIMIT);
        *slower += learning_rate * (seen - *slower);
    }

    /// Learns from a block whose ratio was higher by `beyond` than expected. `reference` is the
    /// ratio of zstd-1 for that block.
    pub(super) fn bend(&mut self, reference: f64, beyond: f64) {
        let scale = (reference * (1.0 - reference)).max(0.02);
        let bend = self.bend + beyond / scale;
        self.bend =
            bend.clamp(self.row.bend - BEND_LIMIT, self.row.bend + BEND_LIMIT).clamp(-0.95, 0.95);
    }
}

fn class(ratio: f64) -> usize {
    CLASSES.iter().position(|end| ratio < *end).unwrap_or(CLASSES.len() - 1)
}
