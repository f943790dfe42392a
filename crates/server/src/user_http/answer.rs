//! Messages and participants as JSON.

use axum::http::{HeaderMap, HeaderValue, header};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use groupwire_session::PresenceState;
use groupwire_session::room::{Person, ReadMessage};
use serde::Serialize;

/// Headers of all answers.
pub(super) fn headers() -> HeaderMap {
    use crate::web::answers::{NO_SNIFF, NO_STORE};
    HeaderMap::from_iter([NO_SNIFF, NO_STORE])
}

/// Headers of a stream of events.
pub(super) fn stream_headers() -> HeaderMap {
    let mut headers = headers();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    // nginx would collect events before it passes them on.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    headers
}

/// A message.
#[derive(Serialize)]
pub(super) struct MessageLine {
    channel: String,
    /// The place of a transaction in the room's order; missing for an awareness value.
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<u64>,
    /// The sender; 0 is the room itself.
    participant: u32,
    /// The sender's verified user, if it is still in the room.
    user: Option<String>,
    #[serde(flatten)]
    key: Option<Key>,
    #[serde(flatten)]
    content: Content,
    /// The participant that left, if this is the room's entry about that.
    #[serde(skip_serializing_if = "Option::is_none")]
    departed: Option<u32>,
    /// The time since the sender made it, in milliseconds.
    age_ms: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Key {
    Key(String),
    KeyBase64(String),
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Content {
    Text(String),
    Base64(String),
}

impl MessageLine {
    pub(super) fn new(one: ReadMessage, channels: &[String]) -> Self {
        let ReadMessage { channel, user, message } = one;
        let content = match String::from_utf8(message.bytes) {
            Ok(text) if message.text => Content::Text(text),
            Ok(text) => Content::Base64(BASE64_STANDARD.encode(text)),
            Err(other) => Content::Base64(BASE64_STANDARD.encode(other.into_bytes())),
        };
        let key = message.key.map(|key| match String::from_utf8(key) {
            Ok(text) => Key::Key(text),
            Err(other) => Key::KeyBase64(BASE64_STANDARD.encode(other.into_bytes())),
        });
        MessageLine {
            channel: channels.get(channel).cloned().unwrap_or_default(),
            position: Some(message.position.get()).filter(|position| *position > 0),
            participant: message.sender.get(),
            user,
            key,
            content,
            departed: message.departed.map(|id| id.get()),
            age_ms: u64::try_from(message.age.as_millis()).unwrap_or(u64::MAX),
        }
    }
}

/// A participant.
#[derive(Serialize)]
pub(super) struct PersonLine {
    participant: u32,
    /// `here`, `away` or `left`.
    state: &'static str,
    user: Option<String>,
    /// The presence that its application wrote, if that is text.
    #[serde(skip_serializing_if = "Option::is_none")]
    presence: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    presence_base64: Option<String>,
}

impl PersonLine {
    pub(super) fn new(one: Person) -> Self {
        let Person { id, state, user, presence } = one;
        let (presence, presence_base64) = match String::from_utf8(presence) {
            Ok(text) if text.is_empty() => (None, None),
            Ok(text) => (Some(text), None),
            Err(other) => (None, Some(BASE64_STANDARD.encode(other.into_bytes()))),
        };
        let state = match state {
            PresenceState::Here => "here",
            PresenceState::Away => "away",
            PresenceState::Left => "left",
        };
        PersonLine { participant: id.get(), state, user, presence, presence_base64 }
    }

    pub(super) fn all(people: Vec<Person>) -> Vec<Self> {
        people.into_iter().map(PersonLine::new).collect()
    }
}
