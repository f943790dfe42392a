//! Runs of a technique on a trace.

use std::time::Duration;

use super::super::conditions::Conditions;
use super::super::dictionary::Dictionary;
use super::super::drive::{self, Outcome};
use super::super::input::Session;
use super::super::row::Mode;
use super::super::technique::Message;
use super::super::techniques::{self, Kind, Setup};
use super::row::row;
use crate::options::Common;
use crate::{Result, Row};

/// A trace, and how it is measured.
pub(super) struct Trial<'a> {
    /// Where the session comes from.
    pub(super) origin: &'static str,
    pub(super) session: &'a Session,
    pub(super) messages: Vec<Message<'a>>,
    pub(super) dictionary: Dictionary,
    pub(super) common: Common,
    pub(super) rounds: usize,
}

impl Trial<'_> {
    /// Sends all messages once; what does not come back as it was sent is the outcome's failure.
    ///
    /// # Errors
    /// The technique cannot encode a message.
    pub(super) fn run(&self, kind: &Kind, settings: Settings) -> Result<Outcome> {
        let Settings { mode, budget, memory } = settings;
        let dictionary = &self.dictionary;
        let setup = Setup { mode, dictionary, senders: false, budget, memory };
        let mut technique = (kind.build)(&setup)?;
        let conditions = Conditions::without_loss(mode);
        let sent_at = |message: usize| conditions.sent_at(self.session, message);
        let path = conditions.path(&sent_at, self.common.seed);
        drive::run(technique.as_mut(), &self.messages, &path)
    }

    /// A row of this trace for one of the paper's tables.
    pub(super) fn row(&self, figure: &str) -> Row {
        row(figure, self.origin, &self.common).with("trace", &self.session.name)
    }

    pub(super) fn bytes_in(&self) -> usize {
        self.messages.iter().map(|message| message.bytes.len()).sum()
    }
}

/// The way in which a technique is run.
#[derive(Clone, Copy)]
pub(super) struct Settings {
    pub(super) mode: Mode,
    pub(super) budget: Duration,
    pub(super) memory: usize,
}

impl Settings {
    /// The paper's time budget, and the memory that users of Groupwire get.
    pub(super) fn usual(mode: Mode) -> Self {
        Settings { mode, budget: techniques::BUDGET, memory: techniques::MEMORY }
    }
}

/// A technique by its name.
///
/// # Panics
/// There is none of this name.
pub(super) fn technique(name: &str) -> &'static Kind {
    let found = techniques::ALL.iter().find(|kind| kind.name == name);
    found.unwrap_or_else(|| panic!("there is no technique {name}"))
}
