//! What is measured on.

use std::time::Duration;

use super::dictionary::Dictionary;
use super::technique::Message;
use crate::trace::Trace;

/// A recorded session with a name, and what peers with dictionaries are trained on.
#[derive(Debug, Clone)]
pub struct Session {
    /// The name of the trace in rows.
    pub name: String,
    trace: Trace,
    training: Option<Trace>,
}

impl Session {
    /// A session of which nothing else is known: dictionaries are trained on its own first tenth, which favours them.
    pub fn new(name: impl Into<String>, trace: Trace) -> Self {
        Session { name: name.into(), trace, training: None }
    }

    /// Trains dictionaries on another session of the same app.
    pub fn with_training(self, training: Trace) -> Self {
        Session { training: Some(training), ..self }
    }

    pub(super) fn is_timed(&self) -> bool {
        self.trace.timed
    }

    pub(super) fn sent_at(&self, message: usize) -> Duration {
        self.trace.messages[message].at
    }

    /// The first messages, at most `limit`.
    pub(super) fn messages(&self, limit: usize) -> Vec<Message<'_>> {
        let first = self.trace.messages.iter().take(limit);
        let message = |one| {
            let &crate::TraceMessage { ref bytes, kind, sender, .. } = one;
            Message { bytes, kind: kind as u32, sender }
        };
        first.map(message).collect()
    }

    pub(super) fn dictionary(&self) -> Dictionary {
        let bytes = |one: &'static str, messages: &[crate::TraceMessage]| {
            Dictionary::train(messages.iter().map(|message| &*message.bytes), one)
        };
        match &self.training {
            Some(other) => bytes("another session", &other.messages),
            None => {
                let own = &self.trace.messages;
                bytes("its own first tenth", &own[..own.len().div_ceil(10)])
            }
        }
    }
}
