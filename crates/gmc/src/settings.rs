//! The settings of an encoder that can be changed while it runs.

use alloc::vec::Vec;

use crate::batch::Batch;
use crate::config::Effort;
use crate::control::Control;
use crate::templates::Search;

/// The encoder's side of the settings. Packets tell decoders whether they are learned, and carry the [`Control`] part.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    /// Whether no packet is learned.
    pub(crate) is_off: bool,
    /// Channels whose messages are not learned, sorted.
    pub(crate) unlearned: Vec<u32>,
    pub(crate) effort: Effort,
    /// The last limit of templates that was set.
    pub(crate) templates_max: Option<u32>,
    /// The control part that was not sent yet.
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

    /// Prepares for an empty model, which keeps as many templates as it can until it is told the limit.
    pub(crate) fn restart(&mut self) {
        self.wanted = Control { templates_max: self.templates_max, ..Control::default() };
    }

    /// Notes a control part that all models have followed.
    pub(crate) fn learned(&mut self, control: Control) {
        if !control.is_empty() && control == self.wanted {
            self.wanted = Control::default();
        }
    }
}
