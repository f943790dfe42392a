//! Converts awareness between a room and y-websocket. In a room each field of a client's state is a
//! value under the key `ID/field`, and the key `ID` says whether the client has a state, so that a
//! cursor is sent without the name beside it (`web/yjs/src/presence.ts`). A message of y-websocket
//! has whole states. This file splits states into fields, and joins fields into states.

use std::collections::{BTreeMap, BTreeSet};

use groupwire_session::ParticipantId;
use groupwire_yjs::MAX_NUMBER;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

/// The states of this end's clients as they were last sent to the room: the fields of each client,
/// in JSON.
#[derive(Default)]
pub(super) struct Own(BTreeMap<u64, BTreeMap<String, String>>);

/// The states of the other participants' clients.
#[derive(Default)]
pub(super) struct Others {
    senders: BTreeMap<ParticipantId, Sender>,
    here: BTreeSet<ParticipantId>,
    /// The participant whose state of a client is valid. No other one can change that state while
    /// this participant is here.
    owners: BTreeMap<u64, ParticipantId>,
    /// The bytes of all fields.
    bytes: usize,
}

/// What a participant sent.
#[derive(Default)]
struct Sender {
    clients: BTreeMap<u64, Sent>,
    /// The bytes of all fields.
    bytes: usize,
}

/// The state of a client, as a participant sent it.
#[derive(Default)]
struct Sent {
    fields: BTreeMap<String, String>,
    is_gone: bool,
}

/// A value for the room.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Keyed {
    pub(super) key: String,
    /// JSON; empty if there is no such field any more, or no such client.
    pub(super) text: String,
}

/// The new state of a client of another participant; `None` if it has left.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::yjs) struct Change {
    pub(in crate::yjs) sender: ParticipantId,
    pub(in crate::yjs) client: u64,
    pub(in crate::yjs) json: Option<String>,
}

/// The value of the key `ID` of a client that has a state.
const HERE: &str = "here";

/// The most bytes of the fields of all other participants, and of one.
const MAX_BYTES: usize = 16 << 20;
const MAX_BYTES_OF_ONE: usize = 1 << 20;

/// The memory of a field and of a client, beside their texts.
const OVERHEAD: usize = 100;

impl Own {
    /// The values that give the room this state of a client. A state that is no JSON object cannot
    /// be split, and is not shown to others.
    pub(super) fn split(&mut self, client: u64, json: Option<&str>) -> Vec<Keyed> {
        let fields = json.and_then(fields_of);
        let Some(fields) = fields else {
            let was_here = self.0.remove(&client).is_some();
            return was_here.then(|| Keyed::new(client, None, "")).into_iter().collect();
        };
        let mut told = Vec::new();
        let known = self.0.entry(client).or_insert_with(|| {
            told.push(Keyed::new(client, None, HERE));
            BTreeMap::new()
        });
        known.retain(|field, _| {
            let is_there = fields.contains_key(field);
            if !is_there {
                told.push(Keyed::new(client, Some(field), ""));
            }
            is_there
        });
        for (field, value) in fields {
            let text = value.get();
            if known.get(&field).is_none_or(|before| before != text) {
                told.push(Keyed::new(client, Some(&field), text));
                known.insert(field, text.to_owned());
            }
        }
        told
    }
}

/// The fields of a JSON object, with their values as they are written, so that no number is
/// rounded. `None` if it is no object.
fn fields_of(json: &str) -> Option<BTreeMap<String, &RawValue>> {
    serde_json::from_str(json).ok()
}

impl Keyed {
    fn new(client: u64, field: Option<&str>, text: &str) -> Self {
        let key = field.map_or_else(|| client.to_string(), |field| format!("{client}/{field}"));
        Keyed { key, text: text.to_owned() }
    }
}

impl Others {
    /// Takes a value of another participant. Returns the client whose state may have changed.
    pub(super) fn take(&mut self, sender: ParticipantId, key: &str, text: &str) -> Option<u64> {
        let (client, field) = match key.split_once('/') {
            Some((client, field)) => (client, Some(field)),
            None => (key, None),
        };
        let is_number =
            (1..=16).contains(&client.len()) && client.bytes().all(|it| it.is_ascii_digit());
        let client: u64 = client.parse().ok().filter(|_| is_number)?;
        if client > MAX_NUMBER {
            return None;
        }
        let is_json = || serde_json::from_str::<IgnoredAny>(text).is_ok();
        if field.is_some() && !text.is_empty() && !is_json() {
            return None;
        }
        let known = self.senders.entry(sender).or_default();
        let replaced = field.and_then(|field| {
            let before = known.clients.get(&client)?.fields.get(field)?;
            Some(field.len() + before.len() + OVERHEAD)
        });
        let more = key.len() + text.len() + 2 * OVERHEAD;
        let exceeds = |bytes: usize, most| bytes - replaced.unwrap_or(0) + more > most;
        // A removal takes no memory if the client is known.
        let is_removal = text.is_empty() && known.clients.contains_key(&client);
        let is_full = exceeds(self.bytes, MAX_BYTES) || exceeds(known.bytes, MAX_BYTES_OF_ONE);
        if is_full && !is_removal {
            return None;
        }
        let before = known.bytes;
        let sent = known.clients.entry(client).or_insert_with(|| {
            known.bytes += OVERHEAD;
            Sent::default()
        });
        match field {
            None => sent.is_gone = text.is_empty(),
            Some(field) => {
                if let Some(before) = sent.fields.remove(field) {
                    known.bytes -= field.len() + before.len() + OVERHEAD;
                }
                if !text.is_empty() {
                    known.bytes += field.len() + text.len() + OVERHEAD;
                    sent.fields.insert(field.to_owned(), text.to_owned());
                }
            }
        }
        self.bytes = self.bytes + known.bytes - before;
        Some(client)
    }

    /// A participant is here or away from now on; if away, it may come back. Returns the clients
    /// whose states may have changed.
    pub(super) fn set_here(&mut self, sender: ParticipantId, is_here: bool) -> Vec<u64> {
        let has_changed = match is_here {
            true => self.here.insert(sender),
            false => self.here.remove(&sender),
        };
        let known = self.senders.get(&sender).filter(|_| has_changed);
        known.map(|known| known.clients.keys().copied().collect()).unwrap_or_default()
    }

    /// A participant has left for good. Call it after [`Others::set_here`].
    pub(super) fn forget(&mut self, sender: ParticipantId) {
        self.bytes -= self.senders.remove(&sender).unwrap_or_default().bytes;
    }

    /// The states of all clients that are here.
    pub(super) fn all(&self) -> Vec<Change> {
        let owners = self.owners.iter();
        owners
            .map(|(&client, &sender)| Change { sender, client, json: self.json(sender, client) })
            .collect()
    }

    /// The bytes of memory that the states take.
    pub(super) fn memory(&self) -> usize {
        self.bytes
    }

    /// The participants that are here.
    pub(super) fn here(&self) -> Vec<ParticipantId> {
        self.here.iter().copied().collect()
    }

    /// Decides which participant's state of a client is valid now.
    pub(super) fn review(&mut self, client: u64) -> Vec<Change> {
        let before = self.owners.get(&client).copied();
        let mut candidates = before.into_iter().chain(self.here.iter().copied());
        let has_it = |sender: &ParticipantId| {
            let sent = self.senders.get(sender).and_then(|known| known.clients.get(&client));
            self.here.contains(sender) && sent.is_some_and(|sent| !sent.is_gone)
        };
        let owner = candidates.find(has_it);
        match owner {
            Some(owner) => self.owners.insert(client, owner),
            None => self.owners.remove(&client),
        };
        let left = before.filter(|before| owner != Some(*before));
        let left = left.map(|sender| Change { sender, client, json: None });
        let is = owner.map(|sender| Change { sender, client, json: self.json(sender, client) });
        left.into_iter().chain(is).collect()
    }

    fn json(&self, sender: ParticipantId, client: u64) -> Option<String> {
        let sent = self.senders.get(&sender)?.clients.get(&client)?;
        let fields = sent.fields.iter().map(|(field, text)| {
            let name = Value::String(field.clone());
            format!("{name}:{text}")
        });
        Some(format!("{{{}}}", fields.collect::<Vec<_>>().join(",")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADA: ParticipantId = ParticipantId(2);
    const BOB: ParticipantId = ParticipantId(3);

    fn keyed(all: Vec<Keyed>) -> Vec<(String, String)> {
        all.into_iter().map(|Keyed { key, text }| (key, text)).collect()
    }

    fn is(sender: ParticipantId, json: Option<&str>) -> Change {
        Change { sender, client: 7, json: json.map(str::to_owned) }
    }

    #[test]
    fn only_fields_that_have_changed_are_sent() {
        let mut own = Own::default();
        let pair = |key: &str, text: &str| (key.to_owned(), text.to_owned());
        let told = own.split(7, Some(r#"{"user":{"name":"Ada"},"cursor":[1,2]}"#));
        let all = [("7", "here"), ("7/cursor", "[1,2]"), ("7/user", r#"{"name":"Ada"}"#)];
        assert_eq!(keyed(told), all.map(|(key, text)| pair(key, text)));
        assert!(
            own.split(7, Some(r#"{"cursor":[1,2], "user":{"name":"Ada"}}"#)).is_empty(),
            "a renewal"
        );
        let odd = r#" { "cursor" : null , "a/b":0.14242424242424242,"\u007b,\\":":,\"}\\" } "#;
        let told = own.split(7, Some(odd));
        let number = "0.14242424242424242";
        let all =
            [("7/user", ""), ("7/a/b", number), ("7/cursor", "null"), ("7/{,\\", r#"":,\"}\\""#)];
        assert_eq!(keyed(told), all.map(|(key, text)| pair(key, text)));
        assert_eq!(keyed(own.split(7, None)), [pair("7", "")]);
        assert!(own.split(7, None).is_empty());
        for other in ["[1]", "1", "{", r#"{"a":1"#, "{}}", ""] {
            assert!(own.split(8, Some(other)).is_empty(), "it is no object: {other}");
        }
        assert_eq!(keyed(own.split(8, Some("{}"))), [pair("8", "here")]);
    }

    #[test]
    fn fields_are_joined_into_the_state_of_who_is_here() {
        let mut others = Others::default();
        assert!(others.set_here(ADA, true).is_empty());
        assert_eq!(others.take(ADA, "7", "here"), Some(7));
        assert_eq!(others.take(ADA, "7/a\"/b", "1"), Some(7));
        assert_eq!(others.take(ADA, "7/user", r#"{"name":"Ada"}"#), Some(7));
        let state = r#"{"a\"/b":1,"user":{"name":"Ada"}}"#;
        assert_eq!(others.review(7), [is(ADA, Some(state))]);
        // Another participant sends a state of the same client.
        assert_eq!(others.take(BOB, "7/user", "2"), Some(7));
        assert_eq!(others.review(7), [is(ADA, Some(state))], "it is hers");
        assert_eq!(others.set_here(BOB, true), [7]);
        assert_eq!(others.review(7), [is(ADA, Some(state))], "it is hers");
        assert_eq!(others.set_here(ADA, false), [7], "her connection is broken");
        assert_eq!(others.review(7), [is(ADA, None), is(BOB, Some(r#"{"user":2}"#))]);
        others.forget(ADA);
        assert_eq!(others.take(BOB, "7/user", ""), Some(7));
        assert_eq!(others.review(7), [is(BOB, Some("{}"))]);
        assert_eq!(others.take(BOB, "7", ""), Some(7));
        assert_eq!(others.review(7), [is(BOB, None)]);
        assert!(others.review(7).is_empty());
        others.set_here(BOB, false);
        others.forget(BOB);
        assert_eq!(others.bytes, 0);
    }

    #[test]
    fn what_is_malformed_or_too_much_is_left_out() {
        let mut others = Others::default();
        others.set_here(ADA, true);
        for (key, text) in [
            ("", "here"),
            ("/x", "1"),
            ("+7", "here"),
            ("9007199254740992", "here"),
            ("12345678901234567", "here"),
            ("7/x", "{"),
            ("7/x", "1 2"),
            ("7/x", &"[".repeat(100_000)),
        ] {
            assert_eq!(others.take(ADA, key, text), None, "{key}");
        }
        let large = format!("\"{}\"", "x".repeat(MAX_BYTES_OF_ONE / 2));
        assert_eq!(others.take(ADA, "7/x", &large), Some(7));
        assert_eq!(others.take(ADA, "7/y", &large), None);
        assert_eq!(others.take(ADA, "7/x", ""), Some(7));
        assert_eq!(others.take(ADA, "7/y", &large), Some(7));
        let other = format!("\"{}\"", "z".repeat(MAX_BYTES_OF_ONE / 2));
        assert_eq!(others.take(ADA, "7/y", &other), Some(7), "it takes the place of as much");
        others.bytes = MAX_BYTES;
        assert_eq!(others.take(ADA, "7", ""), Some(7), "who leaves needs no place");
        assert_eq!(others.take(ADA, "8", "here"), None);
    }
}
