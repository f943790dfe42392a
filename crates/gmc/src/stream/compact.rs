//! Compaction: rounds and forgets until a snapshot of the model is small. The model is all that was
//! learned from messages; a snapshot is the model as bytes, for a decoder that joins late.

use alloc::vec::Vec;

use super::StreamModel;
use crate::archive::Archive;
use crate::config::Delivery;
use crate::range_coder::{RangeEncoder, shared};
use crate::text::snapshot::KeptText;

/// The most bytes that a compacted model takes in a snapshot. The whole snapshot then has less than
/// 4 KiB.
const TARGET: usize = 4000;
/// Bytes of the target that are reserved for packets that wait to be learned, which a snapshot
/// holds too.
const WAITING: usize = 800;

/// What a level of compaction keeps.
struct Level {
    /// Contexts (rows of probabilities) that were used less than this are forgotten.
    uses: u16,
    templates: usize,
    /// The most entries that are kept of each table of values.
    values: usize,
    /// What is kept of strings.
    text: KeptText,
}

/// The levels, from the one that keeps most to the one that keeps least.
const LEVELS: [Level; 12] = [
    Level { uses: 1, templates: 255, values: 1024, text: KeptText::All },
    Level { uses: 1, templates: 255, values: 512, text: KeptText::Strings },
    Level { uses: 1, templates: 255, values: 256, text: KeptText::Recent(2048) },
    Level { uses: 3, templates: 255, values: 128, text: KeptText::Recent(1024) },
    Level { uses: 6, templates: 255, values: 96, text: KeptText::Recent(768) },
    Level { uses: 12, templates: 64, values: 64, text: KeptText::Recent(512) },
    Level { uses: 20, templates: 48, values: 64, text: KeptText::Recent(512) },
    Level { uses: 22, templates: 32, values: 48, text: KeptText::Recent(384) },
    Level { uses: 27, templates: 24, values: 48, text: KeptText::Recent(384) },
    Level { uses: 31, templates: 16, values: 32, text: KeptText::Recent(256) },
    Level { uses: 32, templates: 8, values: 16, text: KeptText::Recent(128) },
    Level { uses: 32, templates: 2, values: 8, text: KeptText::Recent(0) },
];

impl StreamModel {
    /// Compacts the model by one level after the other, until it is small enough in a snapshot.
    /// Equal models stay equal.
    pub(crate) fn compact(&mut self) {
        let target = match self.config.delivery {
            Delivery::Ordered => TARGET,
            _ => TARGET - WAITING,
        };
        // The first level alone keeps the byte contexts (probabilities of single bytes). In a
        // larger model they take more bytes than the target by themselves.
        let first = if self.config.memory / 8 > target { 1 } else { 0 };
        for level in &LEVELS[first..] {
            self.compact_to(level);
            if self.archived_size() <= target {
                break;
            }
        }
    }

    fn compact_to(&mut self, level: &Level) {
        self.messages.templates.compact(level.templates);
        let last_miss =
            self.messages.holes.texts.compact(level.values, self.messages.last_miss[0], level.text);
        self.messages.last_miss.put(0, last_miss);
        self.messages.keys.compact(level.values, level.text != KeptText::All);
        self.messages.choices.compact(level.values);
        self.messages.holes.integers.categories.compact(level.values, |_| true);
        self.messages.holes.integers.categories.change_all(|category| category.compact());
        self.messages.holes.integers.references.compact(level.values, |_| true);
        self.messages.holes.integers.references.change_all(|reference| reference.compact());
        self.messages.holes.grids.compact(level.values / 4, |_| true);
        self.contexts.compact(level.uses);
    }

    /// The bytes that the model takes in a snapshot.
    pub(crate) fn archived_size(&mut self) -> usize {
        let mut bytes = Vec::new();
        let mut coder = RangeEncoder::new(&mut bytes);
        let result = self.archive(&mut Archive::new(shared(&mut coder)));
        debug_assert!(result.is_ok(), "a model that was learned can be written");
        coder.finish();
        bytes.len()
    }
}
