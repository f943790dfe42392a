//! The traces on which techniques are measured.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::dictionary::Dictionary;
use super::technique::Message;
use crate::Result;
use crate::drawing::{Envelope, Event, Format, Wrapper, encode, generate};
use crate::trace::{Trace, TraceMessage};

/// Reads the events of a trace's messages from a table, see
/// [`read_events`](crate::drawing::read_events); packed if the name ends in .gz.
///
/// # Errors
/// A file that cannot be read, or is no such table.
pub(crate) fn read_events(path: &Path) -> Result<Vec<Event>> {
    let bytes = crate::trace::read_file(path)?;
    Ok(crate::drawing::read_events(&String::from_utf8_lossy(&bytes))?)
}

/// A recorded session with a name, and the messages on which peers train dictionaries.
#[derive(Debug, Clone)]
pub(crate) struct Session {
    /// The name of the trace in rows.
    pub(crate) name: String,
    trace: Trace,
    /// The event of each message.
    events: Option<Arc<[Event]>>,
    training: Option<Trace>,
}

impl Session {
    /// A session without further knowledge: dictionaries are trained on its own first tenth, which
    /// favours them.
    pub(crate) fn new(name: impl Into<String>, trace: Trace) -> Self {
        Session { name: name.into(), trace, events: None, training: None }
    }

    /// The built-in session, like the GMC paper's, in each of its formats: the same for the same
    /// seed. Dictionaries are trained on another of the same app.
    pub(crate) fn built_in(seed: u64, messages: usize) -> Vec<Self> {
        let events: Arc<[Event]> = generate(seed, messages).into();
        // The dictionary's session has another seed.
        let other = generate(!seed, messages);
        let session = |format: Format| Session {
            name: format.name().to_owned(),
            trace: written(format, &events),
            events: Some(Arc::clone(&events)),
            training: Some(written(format, &other)),
        };
        Format::ALL.into_iter().map(session).collect()
    }

    /// The built-in session in JSON, alone and inside of the messages of other protocols.
    /// Dictionaries are trained on another of the same app.
    pub(crate) fn wrapped(seed: u64, messages: usize) -> Vec<Self> {
        let [events, other] = [seed, !seed].map(|seed| generate(seed, messages));
        let [plain, training] = [&events, &other].map(|events| written(Format::Json, events));
        let session = |envelope: Envelope| Session {
            name: envelope.name().to_owned(),
            trace: wrapped(envelope, &plain),
            events: Some(events.as_slice().into()),
            training: Some(wrapped(envelope, &training)),
        };
        let wrapped = Envelope::ALL.into_iter().map(session).collect::<Vec<_>>();
        let plain = Session {
            name: Format::Json.name().to_owned(),
            trace: plain,
            events: Some(events.into()),
            training: Some(training),
        };
        [plain].into_iter().chain(wrapped).collect()
    }

    /// Adds the event of each message, for techniques that code events instead of messages.
    ///
    /// # Errors
    /// Events that are not as many as the messages.
    pub(crate) fn with_events(self, mut events: Vec<Event>) -> Result<Self> {
        // Traces are sorted by time, and keep the order of simultaneous messages; so does this.
        events.sort_by_key(|event| event.time_ms);
        let (found, wanted) = (events.len(), self.trace.messages.len());
        match found == wanted {
            true => Ok(Session { events: Some(events.into()), ..self }),
            false => Err(format!(
                "{} has {wanted} messages, but there are {found} events: they are of another session",
                self.name
            )
            .into()),
        }
    }

    pub(super) fn has_events(&self) -> bool {
        self.events.is_some()
    }

    pub(super) fn is_timed(&self) -> bool {
        self.trace.timed
    }

    pub(super) fn sent_at(&self, message: usize) -> Duration {
        self.trace.messages[message].at
    }

    /// The messages as a recording: each behind its length, as a little-endian number of four
    /// bytes.
    pub(super) fn recording(&self) -> Vec<u8> {
        let messages = self.trace.messages.iter().map(|message| &message.bytes);
        messages
            .flat_map(|bytes| [&(bytes.len() as u32).to_le_bytes(), &bytes[..]].concat())
            .collect()
    }

    /// The first messages, at most `limit`.
    pub(super) fn messages(&self, limit: usize) -> Vec<Message<'_>> {
        let first = self.trace.messages.iter().take(limit).enumerate();
        first
            .map(|(at, one)| Message {
                bytes: &one.bytes,
                kind: one.kind as u32,
                sender: one.sender,
                event: self.events.as_ref().map(|events| &events[at]),
            })
            .collect()
    }

    pub(super) fn dictionary(&self) -> Dictionary {
        let (messages, source) = match &self.training {
            Some(other) => (&other.messages[..], "another session"),
            None => {
                let own = &self.trace.messages;
                (&own[..own.len().div_ceil(10)], "its own first tenth")
            }
        };
        Dictionary::train(messages.iter().map(|message| &*message.bytes), source)
    }
}

/// The messages of a trace inside of those of another protocol.
fn wrapped(envelope: Envelope, plain: &Trace) -> Trace {
    let mut wrapper = Wrapper::new(envelope);
    let messages = plain.messages.iter().map(|message| TraceMessage {
        bytes: wrapper.wrap(message.sender, &message.bytes).into(),
        ..message.clone()
    });
    Trace { messages: messages.collect(), ..plain.clone() }
}

/// A generated session as a trace.
fn written(format: Format, events: &[Event]) -> Trace {
    let start = events.first().map_or(0, |first| first.time_ms);
    let mut kinds: Vec<String> = Vec::new();
    let messages = events.iter().zip(encode(format, events)).map(|(event, bytes)| {
        let name = event.kind.name();
        let kind = kinds.iter().position(|kind| kind == name).unwrap_or_else(|| {
            kinds.push(name.to_owned());
            kinds.len() - 1
        });
        let at = Duration::from_millis(event.time_ms.saturating_sub(start));
        TraceMessage { at, sender: event.sender, kind, bytes: bytes.into() }
    });
    Trace { messages: messages.collect(), kinds, timed: true }
}
