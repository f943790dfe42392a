//! What is known of one candidate.

use super::reference::Row;
use crate::Candidate;

/// Ratios of zstd-1 above which a block takes as long to pack as noise does, and below which it does not.
const DULL: f64 = 0.97;
const NOT_DULL: f64 = 0.93;
/// Kinds of blocks whose times are told apart, by where their ratios end.
const KINDS: [f64; 4] = [0.25, 0.55, NOT_DULL, f64::INFINITY];
/// How fast what is known of times and ratios follows.
const FOLLOW: f64 = 0.1;
/// And of what was not chosen for long.
const FOLLOW_UNKNOWN: f64 = 0.4;
/// What is believed beforehand is wrong by no more than this factor, ...
const WRONG: f64 = 4.0;
const FAR: f64 = 1.5;
/// ... and a bend by no more than this.
const BENT: f64 = 0.3;
/// A candidate that was not chosen for so many blocks is hoped to be better than is known: later ones ever more rarely.
const PATIENCE: f64 = 32.0;
const PATIENCE_LATER: f64 = 1024.0;
/// By this share of a block's time.
const HOPE: f64 = 0.15;

#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    pub(super) candidate: Candidate,
    row: Row,
    bend: f64,
    /// Packing times over those of the row, by kind.
    slower: [f64; KINDS.len()],
    /// When it was last chosen: the number of the block.
    chosen: u64,
    patience: f64,
}

impl Known {
    pub(super) fn new(row: Row) -> Self {
        Known {
            candidate: row.candidate,
            row,
            bend: row.bend,
            slower: [1.0; KINDS.len()],
            chosen: 0,
            patience: PATIENCE,
        }
    }

    /// The ratio where zstd-1 reaches `ratio`.
    pub(super) fn ratio(&self, ratio: f64) -> f64 {
        (ratio + self.bend * ratio * (1.0 - ratio)).clamp(0.0, 1.0)
    }

    /// How little is known of it at block `number`, as it was not chosen for long: 0 to 1.
    fn unknown(&self, number: u64) -> f64 {
        ((number - self.chosen) as f64 / self.patience).min(1.0)
    }

    /// How fast what is known of it follows at block `number`.
    pub(super) fn follow(&self, number: u64) -> f64 {
        FOLLOW.max(FOLLOW_UNKNOWN * self.unknown(number))
    }

    /// What its time is to be multiplied by in that hope.
    pub(super) fn hope(&self, number: u64) -> f64 {
        1.0 - HOPE * self.unknown(number)
    }

    /// It was chosen: for what is known of it, or only in hope.
    pub(super) fn choose(&mut self, number: u64, in_hope: bool) {
        self.chosen = number;
        self.patience = if in_hope { (2.0 * self.patience).min(PATIENCE_LATER) } else { PATIENCE };
    }

    /// Blocks are of another kind now.
    pub(super) fn forget(&mut self) {
        self.patience = PATIENCE;
    }

    /// What zstd-1 reaches where this one reaches `ratio`.
    pub(super) fn of_reference(&self, ratio: f64) -> f64 {
        if self.bend.abs() < 1e-6 || ratio >= 1.0 {
            return ratio.min(1.0);
        }
        let sum = 1.0 + self.bend;
        let root = libm::sqrt((sum * sum - 4.0 * self.bend * ratio).max(0.0));
        ((sum - root) / (2.0 * self.bend)).clamp(0.0, 1.0)
    }

    /// Packing, seconds, with a processor to itself.
    pub(super) fn packing(&self, size: f64, ratio: f64) -> f64 {
        self.slower[kind(ratio)] * self.believed(size, ratio)
    }

    fn believed(&self, size: f64, ratio: f64) -> f64 {
        let shape = match ratio {
            ..0.5 => 0.35 + 1.3 * ratio,
            ..NOT_DULL => 1.0,
            ..DULL => 1.0 + (self.row.dull - 1.0) * (ratio - NOT_DULL) / (DULL - NOT_DULL),
            _ => self.row.dull,
        };
        1e-9 * size * self.row.packing * shape
    }

    /// Unpacking, seconds, with a processor to itself.
    pub(super) fn unpacking(&self, size: f64, ratio: f64) -> f64 {
        let shape = if ratio < NOT_DULL { 0.5 + ratio } else { 0.05 };
        1e-9 * size * self.row.unpacking * shape
    }

    /// Learns a time of packing, seconds, in which other programs' share is not.
    pub(super) fn took(&mut self, size: f64, ratio: f64, took: f64, follow: f64) {
        let believed = self.believed(size, ratio).max(1e-9);
        let slower = &mut self.slower[kind(ratio)];
        // What is far off is a matter of the processor's load.
        let seen = (took / believed).clamp(*slower / FAR, *slower * FAR).clamp(1.0 / WRONG, WRONG);
        *slower += follow * (seen - *slower);
    }

    /// Learns that its ratio was another than that of zstd-1 let expect.
    pub(super) fn bend(&mut self, reference: f64, beyond: f64) {
        let room = (reference * (1.0 - reference)).max(0.02);
        let bend = self.bend + beyond / room;
        self.bend = bend.clamp(self.row.bend - BENT, self.row.bend + BENT).clamp(-0.95, 0.95);
    }
}

fn kind(ratio: f64) -> usize {
    KINDS.iter().position(|end| ratio < *end).unwrap_or(KINDS.len() - 1)
}
