//! The state of the participant.

use std::collections::{BTreeMap, HashMap};
use std::future::pending;

use groupwire_client::data::{SharedData, Update};
use groupwire_client::{Channel, Error, Events, ParticipantChange, Room};
use serde_json::Value;

/// A participant and what it has seen.
#[derive(Default)]
pub(crate) struct Driver {
    pub(crate) room: Option<Room>,
    pub(crate) events: Option<Events>,
    pub(crate) data: Option<SharedData>,
    pub(crate) channels: HashMap<String, Channel>,
    /// The other participants, by their ids.
    pub(crate) people: BTreeMap<u32, ParticipantChange>,
    pub(crate) status: &'static str,
    pub(crate) joined: bool,
    /// The first error of the room.
    pub(crate) failed: Option<Failure>,
    /// The outcomes of messages to one participant, by their tags.
    pub(crate) receipts: HashMap<u32, &'static str>,
    pub(crate) last_tag: u32,
    /// The events that the runner has not asked for yet.
    pub(crate) log: Vec<Value>,
}

/// An error of a command: a word for the runner, a sentence for people.
#[derive(Clone)]
pub(crate) struct Failure {
    pub(crate) code: String,
    pub(crate) text: String,
}

impl Driver {
    /// Takes the next event; waits for ever if there is no room. The future may be dropped without
    /// losing an event.
    pub(crate) async fn pump(&mut self) {
        let Some(events) = &mut self.events else { return pending().await };
        let event = match &self.data {
            Some(data) => match data.next(events).await {
                Some(Update::Room(event)) => Some(event),
                Some(Update::Data(_)) => return,
                None => None,
            },
            None => events.next().await,
        };
        match event {
            Some(event) => self.take(event),
            None => self.events = None,
        }
    }
}

impl Failure {
    pub(crate) fn new(code: &str, text: impl ToString) -> Self {
        Failure { code: code.to_owned(), text: text.to_string() }
    }
}

/// The client has words only for errors of the session; the others get those of docs/bindings.md.
impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let code = match &error {
            Error::Session(error) => error.name(),
            Error::Address { .. } => "invalid-argument",
            Error::Unreachable { .. } => "unreachable",
            Error::Over => "closed",
            _ => "unknown",
        };
        Failure::new(code, error)
    }
}
