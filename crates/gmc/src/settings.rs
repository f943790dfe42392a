//! The settings of an encoder that can be changed while it runs.

use alloc::vec::Vec;

use crate::batch::Batch;
use crate::config::Effort;
use crate::control::Control;
use crate::templates::Search;

/// The encoder's copy of the settings. Each packet says whether decoders learn it; a [`Control`] part in a packet
/// carries the other changes.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    /// Whether no packet is learned.
    pub(crate) is_off: bool,
    /// Channels whose messages are not learned, sorted.
    pub(crate) unlearned: Vec<u32>,
    pub(crate) effort: Effort,
    /// The limit that was last set for the number of templates.
    pub(crate) templates_max: Option<u32>,
    /// The control part that the next packets carry, because decoders may not have obeyed it yet.
    pub(crate) wanted: Control,
}

impl Settings {
    /// Whether these messages may be learned. A packet without messages may.
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

    /// Prepares for an empty model: its first packets carry the limit of templates again, since an empty model has
    /// none.
    pub(crate) fn restart(&mut self) {
        self.wanted = Control { templates_max: self.templates_max, ..Control::default() };
    }

    /// Notes that all models have obeyed this control part: packets need not carry it any more.
    pub(crate) fn learned(&mut self, control: Control) {
        if !control.is_empty() && control == self.wanted {
            self.wanted = Control::default();
        }
    }
}
