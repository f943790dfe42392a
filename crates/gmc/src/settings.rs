//! What can be changed while an encoder runs.

use alloc::vec::Vec;

use crate::batch::Batch;
use crate::config::Effort;
use crate::control::Control;
use crate::templates::Search;

/// The encoder's side of settings. Decoders hear of whether each packet is learned, and of
/// [`Control`].
#[derive(Debug, Default)]
pub(crate) struct Settings {
    /// Whether nothing is learned at all.
    pub(crate) is_off: bool,
    /// Channels whose messages are not learned, in order.
    pub(crate) unlearned: Vec<u32>,
    pub(crate) effort: Effort,
    /// The last limit that was set.
    pub(crate) templates_max: Option<u32>,
    /// What decoders were not told yet.
    pub(crate) wanted: Control,
}

impl Settings {
    /// Whether these messages may be learned. There is nothing to be learned of no message.
    pub(crate) fn allow(&self, batch: &Batch) -> bool {
        batch.len() == 0
            || !self.is_off
                && !batch.iter().any(|message| {
                    let channel = message.fields.first().copied().unwrap_or(0);
                    self.unlearned.binary_search(&channel).is_ok()
                })
    }

    /// How the templates of messages are searched for.
    pub(crate) fn search(&self) -> Search {
        match self.effort {
            Effort::Fast => Search::FirstMatch,
            Effort::Normal | Effort::Best => Search::Best,
        }
    }

    /// An empty model keeps as many templates as it can, until it is told.
    pub(crate) fn restart(&mut self) {
        self.wanted = Control { templates_max: self.templates_max, ..Control::default() };
    }

    /// Takes note of what all models have done.
    pub(crate) fn learned(&mut self, control: Control) {
        if !control.is_empty() && control == self.wanted {
            self.wanted = Control::default();
        }
    }
}
