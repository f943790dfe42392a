//! How the memory is shared out among the parts of the model. The model is all that both ends have
//! learned from earlier messages: templates (messages with holes where others differ), the latest
//! values in the holes, and the probabilities of decisions.

use crate::config::{Config, Delivery};
use crate::{fields, grid, keys};

/// The memory of each part of the model, in bytes.
pub(crate) struct Budget {
    pub(crate) contexts: usize,
    pub(crate) byte_contexts: usize,
    pub(crate) history: usize,
    pub(crate) templates: usize,
    pub(crate) references: usize,
    pub(crate) grids: usize,
    pub(crate) recents: usize,
    pub(crate) choices: usize,
    pub(crate) categories: usize,
    pub(crate) keys: usize,
}

impl Budget {
    pub(crate) fn new(config: &Config) -> Self {
        let memory = config.memory_bounded();
        let waiting = match config.delivery {
            Delivery::Ordered => 0,
            // This part is left for packets of a round trip, which wait to be learned, and for the
            // logs that lead back to older versions of the model.
            Delivery::Datagrams | Delivery::Room => memory / 4,
        };
        let counters = config.counter_count() * fields::COUNTER_MEMORY;
        let memory = memory - waiting - config.field_count() * fields::MEMORY - counters;
        // The smallest table of grids (see [`grid`]) is large compared to the smallest memory.
        let grids = (memory / 32).max(grid::MEMORY_MIN);
        // A template's key is the hole that identifies the sender. A minimum of numbers has to be
        // remembered to find it.
        let keys = (memory / 62).max(keys::MEMORY_MIN.min(memory / 16));
        let memory = memory - grids - keys;
        // The shares are multiples of 1/62 of the memory. They were found by measurement on
        // recorded sessions in text, XML, JSON and binary.
        let share = |parts: usize| memory / 62 * parts;
        Self {
            contexts: share(20),
            byte_contexts: share(8),
            history: share(7),
            templates: share(15),
            references: share(7),
            grids,
            recents: share(2),
            choices: share(1),
            categories: share(2),
            keys,
        }
    }
}
