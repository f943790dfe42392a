//! The types of events, and the JSON of each.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use groupwire_session::room::Ordered;
use groupwire_session::{ParticipantId, Position};
use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::tools::wall::wall;

/// Larger texts in which characters have to be escaped are told as base64, which takes a third more
/// than the text. So the event of a transaction of 16 MiB fits into the store
/// ([`MAX_EVENT`](crate::durable::limits::MAX_EVENT)), whatever is in it.
const MAX_TEXT: usize = 1 << 20;

/// The kinds of events that an application can choose from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// Somebody joined a room.
    Joined,
    /// Somebody left a room for good, or was away for too long.
    Left,
    /// The first participant of a room is there.
    Opened,
    /// The last participant of a room has left.
    Empty,
    /// A part of a room's snapshot was stored.
    Snapshot,
    /// A transaction got its place in a room's order.
    Transaction,
}

impl EventKind {
    /// All kinds of events.
    pub const ALL: [EventKind; 6] = [
        EventKind::Joined,
        EventKind::Left,
        EventKind::Opened,
        EventKind::Empty,
        EventKind::Snapshot,
        EventKind::Transaction,
    ];

    /// The `type` of events of this kind.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            EventKind::Joined => "participant.joined",
            EventKind::Left => "participant.left",
            EventKind::Opened => "room.opened",
            EventKind::Empty => "room.empty",
            EventKind::Snapshot => "room.snapshot",
            EventKind::Transaction => "room.transaction",
        }
    }
}

/// A text was given as the kind of an event and is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no event {0:?}; there are: participant.joined, participant.left, room.opened, room.empty, room.snapshot, room.transaction"
)]
pub struct UnknownEvent(String);

impl FromStr for EventKind {
    type Err = UnknownEvent;

    fn from_str(text: &str) -> Result<Self, UnknownEvent> {
        let found = EventKind::ALL.into_iter().find(|kind| kind.name() == text);
        found.ok_or_else(|| UnknownEvent(text.to_owned()))
    }
}

/// The kinds of events that are told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventKinds(Vec<EventKind>);

impl Default for EventKinds {
    /// All but transactions, which can be very many.
    fn default() -> Self {
        EventKinds::from_iter(
            EventKind::ALL.into_iter().filter(|kind| *kind != EventKind::Transaction),
        )
    }
}

impl FromIterator<EventKind> for EventKinds {
    fn from_iter<I: IntoIterator<Item = EventKind>>(kinds: I) -> Self {
        EventKinds(kinds.into_iter().collect())
    }
}

impl EventKinds {
    /// True if events of this kind are told.
    #[must_use]
    pub fn contains(&self, kind: EventKind) -> bool {
        self.0.contains(&kind)
    }
}

/// An event as it waits in the queue: JSON without an id, which it gets from its number there.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Event(pub(super) Vec<u8>);

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.0))
    }
}

/// The participant in `participant.joined` and `participant.left`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Participant {
    pub(super) number: ParticipantId,
    /// The verified user.
    pub(super) user: Option<String>,
}

impl Event {
    pub(super) fn started() -> Self {
        Event::new("server.started", json!({ "version": env!("CARGO_PKG_VERSION") }))
    }

    pub(super) fn joined(room: &str, participant: &Participant, resumed: bool) -> Self {
        let Participant { number, user } = participant;
        let data =
            json!({ "room": room, "participant": number.get(), "user": user, "resumed": resumed });
        Event::of(EventKind::Joined, data)
    }

    pub(super) fn left(room: &str, participant: &Participant) -> Self {
        let Participant { number, user } = participant;
        let data = json!({ "room": room, "participant": number.get(), "user": user });
        Event::of(EventKind::Left, data)
    }

    pub(super) fn opened(room: &str) -> Self {
        Event::of(EventKind::Opened, json!({ "room": room }))
    }

    pub(super) fn empty(room: &str) -> Self {
        Event::of(EventKind::Empty, json!({ "room": room }))
    }

    pub(super) fn snapshot(room: &str, part: &str, as_of: Position, size: usize) -> Self {
        let data = json!({ "room": room, "part": part, "as_of": as_of.get(), "size": size });
        Event::of(EventKind::Snapshot, data)
    }

    pub(super) fn transaction(room: &str, transaction: &Ordered<'_>, user: Option<&str>) -> Self {
        let Ordered { position, sender, channel, key, ref bytes, text, departed } = *transaction;
        let mut data = json!({
            "room": room,
            "position": position.get(),
            "channel": channel,
            "participant": sender.get(),
            "user": user,
            "key_base64": key.map(|key| STANDARD.encode(key)),
        });
        if let Some(departed) = departed {
            data["departed"] = departed.get().into();
        }
        if let Ok(content) = str::from_utf8(bytes)
            && text
            && json_length(content) <= MAX_TEXT.max(content.len())
        {
            data["text"] = content.into();
        } else {
            data["base64"] = STANDARD.encode(bytes).into();
        }
        Event::of(EventKind::Transaction, data)
    }

    /// Stands for `count` missing events, which were dropped between two times.
    pub(super) fn gap(count: u64, from: Duration, to: Duration) -> Self {
        let data = json!({ "count": count, "from": timestamp(from), "to": timestamp(to) });
        Event::at(to, "gap", data)
    }

    fn of(kind: EventKind, data: Value) -> Self {
        Event::new(kind.name(), data)
    }

    fn new(kind: &str, data: Value) -> Self {
        Event::at(wall(), kind, data)
    }

    fn at(time: Duration, kind: &str, data: Value) -> Self {
        let event = json!({ "type": kind, "timestamp": timestamp(time), "data": data });
        Event(event.to_string().into_bytes())
    }

    /// The size of the event in bytes.
    pub(crate) fn size(&self) -> usize {
        self.0.len()
    }

    /// The event as it is put into the queue.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        self.0.clone()
    }

    /// The event with its id.
    pub(super) fn with_id(&self, id: &str) -> Vec<u8> {
        let rest = self.0.get(1..).unwrap_or_default();
        [format!(r#"{{"id":"{id}","#).as_bytes(), rest].concat()
    }
}

/// The bytes of a text in JSON, at most: a control character takes six.
fn json_length(text: &str) -> usize {
    let length = |byte: u8| match byte {
        b'"' | b'\\' => 2,
        ..0x20 => 6,
        _ => 1,
    };
    text.bytes().map(length).sum()
}

/// A time since 1970 as in `2026-01-31T12:00:00.5Z`.
pub(super) fn timestamp(time: Duration) -> String {
    let nanoseconds = i128::try_from(time.as_millis()).unwrap_or_default() * 1_000_000;
    let time = OffsetDateTime::from_unix_timestamp_nanos(nanoseconds);
    let text = time.ok().and_then(|time| time.format(&Rfc3339).ok());
    // Only a clock far beyond the year 9999 gives no time.
    text.unwrap_or_else(|| "9999-12-31T23:59:59Z".to_owned())
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use crate::durable::limits::MAX_EVENT;
    use groupwire_session::limits::MAX_TRANSACTION;

    use super::*;

    fn parsed(event: &Event) -> Value {
        serde_json::from_slice(&event.with_id("x-1")).unwrap()
    }

    #[test]
    fn kinds_are_read_by_the_names_that_events_have() {
        for kind in EventKind::ALL {
            assert_eq!(kind.name().parse(), Ok(kind));
        }
        let error = "joined".parse::<EventKind>().unwrap_err().to_string();
        for kind in EventKind::ALL {
            assert!(error.contains(kind.name()), "{error}");
        }
        assert!(!EventKinds::default().contains(EventKind::Transaction));
        assert!(EventKinds::default().contains(EventKind::Snapshot));
    }

    #[test]
    fn a_transaction_has_its_text_or_its_bytes() {
        let ordered = |bytes: &'static [u8], text| Ordered {
            position: Position(7),
            sender: ParticipantId(3),
            channel: "draw",
            key: Some(&[255, 0]),
            bytes: Cow::Borrowed(bytes),
            text,
            departed: None,
        };
        let event =
            parsed(&Event::transaction("r\"oom", &ordered("häuser".as_bytes(), true), None));
        assert_eq!((&event["id"], &event["type"]), (&json!("x-1"), &json!("room.transaction")));
        let expected = json!({
            "room": "r\"oom", "position": 7, "channel": "draw", "participant": 3, "user": null,
            "key_base64": "/wA=", "text": "häuser"
        });
        assert_eq!(event["data"], expected);
        let event = parsed(&Event::transaction("room", &ordered(&[1, 2], false), Some("ann")));
        assert_eq!(event["data"]["base64"], "AQI=");
        assert_eq!((&event["data"]["user"], event["data"].get("text")), (&json!("ann"), None));
        assert_eq!(event["data"].get("departed"), None);
        let departed = Some(ParticipantId(9));
        let (sender, key) = (ParticipantId(0), None);
        let entry = Ordered { sender, key, departed, ..ordered(&[], false) };
        let event = parsed(&Event::transaction("room", &entry, None));
        assert_eq!((&event["data"]["departed"], &event["data"]["base64"]), (&json!(9), &json!("")));
    }

    #[test]
    fn an_event_of_the_largest_transaction_fits_into_the_store() {
        let texts = ["\u{1}", "\"", "a", "ä", "ab\u{7f}\\"];
        for text in texts.map(|text| text.repeat(MAX_TRANSACTION / text.len())) {
            let transaction = Ordered {
                position: Position(u64::MAX),
                sender: ParticipantId(u32::MAX),
                channel: "draw",
                key: Some(&[7; 1000]),
                bytes: Cow::Borrowed(text.as_bytes()),
                text: true,
                departed: None,
            };
            let event = Event::transaction(&"r".repeat(256), &transaction, Some("ann"));
            assert!(event.0.len() <= MAX_EVENT, "{}", event.0.len());
        }
    }

    #[test]
    fn times_are_those_of_rfc_3339() {
        assert_eq!(timestamp(Duration::from_millis(1_767_225_600_250)), "2026-01-01T00:00:00.25Z");
        assert_eq!(timestamp(Duration::MAX), "9999-12-31T23:59:59Z");
        let gap = parsed(&Event::gap(5, Duration::ZERO, Duration::from_secs(60)));
        assert_eq!(gap["type"], "gap");
        let data =
            json!({ "count": 5, "from": "1970-01-01T00:00:00Z", "to": "1970-01-01T00:01:00Z" });
        assert_eq!(gap["data"], data);
    }
}
