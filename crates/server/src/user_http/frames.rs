//! Server-Sent Events (WHATWG HTML, section 9.2) as text.

use std::fmt::Write;
use std::time::Duration;

use axum::body::Bytes;
use groupwire_session::room::Page;
use serde::Serialize;

use super::answer::{MessageLine, PersonLine};
use super::place::Cursor;
use super::read::Gap;

/// The participants of a room, or their changes.
#[derive(Serialize)]
struct Presence {
    participants: Vec<PersonLine>,
    complete: bool,
    count: usize,
}

#[derive(Serialize)]
struct Ready {
    participant: u32,
    position: u64,
}

#[derive(Serialize)]
struct End<'a> {
    code: &'a str,
    detail: &'a str,
    /// When to come back, in milliseconds; missing if that does not help.
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_ms: Option<u64>,
}

/// Some events.
#[derive(Default)]
pub(super) struct Events(String);

impl Events {
    /// `data` is JSON, which has no line breaks.
    fn event(&mut self, name: &str, id: Option<&Cursor>, data: &impl Serialize) {
        let data = serde_json::to_string(data).unwrap_or_default();
        // Writing to a string does not fail.
        if let Some(id) = id {
            let _ = writeln!(self.0, "id: {id}");
        }
        let _ = write!(self.0, "event: {name}\ndata: {data}\n\n");
    }

    /// The first event.
    pub(super) fn ready(&mut self, participant: u32, cursor: &Cursor) {
        let position = cursor.place.position.get();
        self.event("ready", Some(cursor), &Ready { participant, position });
    }

    /// The room of the client's place was lost.
    pub(super) fn new_room(&mut self) {
        self.event("gap", None, &Gap { channel: None, position: 0, reason: "new_room" });
    }

    /// Messages, each with the place after it. `before` is the place before them.
    pub(super) fn messages(&mut self, page: Page, channels: &[String], before: Cursor) {
        for missed in &page.missed {
            let channel = channels.get(missed.channel).cloned();
            let position = missed.position.get();
            self.event("gap", None, &Gap { channel, position, reason: "dropped" });
        }
        let mut cursor = before;
        for one in page.messages {
            let (position, order) = (one.message.position, one.message.order);
            let name = match position.get() {
                0 => {
                    // The page has all transactions before its first value.
                    cursor.place.position = page.place.position;
                    cursor.place.order = order;
                    "value"
                }
                _ => {
                    cursor.place.position = position;
                    "message"
                }
            };
            self.event(name, Some(&cursor), &MessageLine::new(one, channels));
        }
    }

    /// Participants that have changed.
    pub(super) fn presence(
        &mut self,
        participants: Vec<PersonLine>,
        complete: bool,
        count: usize,
        cursor: &Cursor,
    ) {
        self.event("presence", Some(cursor), &Presence { participants, complete, count });
    }

    /// A comment that keeps the connection alive, with the place so far as its id. `EventSource`
    /// dispatches no event for it.
    pub(super) fn heartbeat(&mut self, cursor: &Cursor) {
        let _ = write!(self.0, ": heartbeat\nid: {cursor}\n\n");
    }

    /// The last event.
    pub(super) fn end(&mut self, code: &str, detail: &str, retry: Option<Duration>) {
        let retry_ms = retry.map(|retry| retry.as_millis() as u64);
        if let Some(retry) = retry_ms {
            let _ = writeln!(self.0, "retry: {retry}");
        }
        self.event("end", None, &End { code, detail, retry_ms });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn bytes(self) -> Bytes {
        self.0.into()
    }
}
