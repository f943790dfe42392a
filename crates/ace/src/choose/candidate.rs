//! The model of one candidate: its ratios and its times.

use super::reference::Row;
use crate::Candidate;

/// Ratios of zstd-1 above which codecs treat a block as incompressible, and below which they do not. In between the time
/// is interpolated.
const INCOMPRESSIBLE: f64 = 0.97;
const COMPRESSIBLE: f64 = 0.93;
/// The upper bounds of the ratios of zstd-1 in each class of blocks. Times are learned for each class separately.
const CLASSES: [f64; 4] = [0.25, 0.55, COMPRESSIBLE, f64::INFINITY];
/// The weight of a new measurement in times and ratios.
const LEARNING_RATE: f64 = 0.1;
/// The same for a candidate that has not been chosen for long.
const LEARNING_RATE_UNKNOWN: f64 = 0.4;
/// The largest factor by which learned times may differ from the cost table, which is the largest factor that is assumed
/// between machines, too.
const TIME_LIMIT: f64 = 4.0;
/// The largest factor by which one measurement may differ from the learned time. A larger one is due to load.
const STEP_LIMIT: f64 = 1.5;
/// The largest difference of a learned bend from the cost table.
const BEND_LIMIT: f64 = 0.3;
/// The number of blocks after which a candidate that was not chosen gets the full [`BONUS`]. It doubles each time the
/// candidate is tried for the bonus alone, up to the second number.
const PATIENCE: f64 = 32.0;
const LONGEST_PATIENCE: f64 = 1024.0;
/// The largest share of a block's time by which an untried candidate is taken to be better than its model says.
const BONUS: f64 = 0.15;

/// The model of one candidate, which starts with a row of the cost table.
#[derive(Debug, Clone, Copy)]
pub(super) struct CandidateModel {
    pub(super) candidate: Candidate,
    /// The costs before measurements.
    row: Row,
    /// The learned bend, see [`Row::bend`].
    bend: f64,
    /// Compression times divided by those of the row, by class.
    slower: [f64; CLASSES.len()],
    /// The number of the block for which it was chosen last.
    chosen: u64,
    /// The number of blocks until the full bonus.
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

    /// The expected ratio of a block that zstd-1 compresses to `ratio`.
    pub(super) fn ratio(&self, ratio: f64) -> f64 {
        (ratio + self.bend * ratio * (1.0 - ratio)).clamp(0.0, 1.0)
    }

    /// How long it has not been chosen at block `number`: from 0 to 1, for `patience` blocks and more.
    fn staleness(&self, number: u64) -> f64 {
        ((number - self.chosen) as f64 / self.patience).min(1.0)
    }

    /// The weight of a measurement at block `number`.
    pub(super) fn learning_rate(&self, number: u64) -> f64 {
        LEARNING_RATE.max(LEARNING_RATE_UNKNOWN * self.staleness(number))
    }

    /// The factor of its expected time at block `number` that includes the bonus.
    pub(super) fn bonus_factor(&self, number: u64) -> f64 {
        1.0 - BONUS * self.staleness(number)
    }

    /// Notes that it was chosen for block `number`, by its model or only because of the bonus.
    pub(super) fn note_choice(&mut self, number: u64, for_bonus: bool) {
        self.chosen = number;
        self.patience =
            if for_bonus { (2.0 * self.patience).min(LONGEST_PATIENCE) } else { PATIENCE };
    }

    /// Resets the patience, because the content has changed.
    pub(super) fn reset_patience(&mut self) {
        self.patience = PATIENCE;
    }

    /// The expected ratio of zstd-1 for a block that this candidate compresses to `ratio`.
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

    /// Learns a compression time in seconds, from which the load has been removed.
    pub(super) fn learn_time(&mut self, size: f64, ratio: f64, took: f64, learning_rate: f64) {
        let expected = self.table_time(size, ratio).max(1e-9);
        let slower = &mut self.slower[class(ratio)];
        // A measurement that differs much is due to load.
        let seen = (took / expected)
            .clamp(*slower / STEP_LIMIT, *slower * STEP_LIMIT)
            .clamp(1.0 / TIME_LIMIT, TIME_LIMIT);
        *slower += learning_rate * (seen - *slower);
    }

    /// Learns that the ratio was higher by `beyond` than expected from the ratio of zstd-1.
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
