//! Contents and keys of messages as JSON: text as it is, and other bytes in base64.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use groupwire_session::ParticipantId;
use groupwire_session::room::LookedAt;
use serde::Serialize;
use serde_json::Value;

/// Most bytes of a content in an answer. A longer one is cut off.
pub(super) const MAX_SHOWN: usize = 4096;

/// A transaction or a value.
#[derive(Serialize)]
pub(super) struct MessageLine {
    /// The place of a transaction in the room's order.
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<u64>,
    /// The place of a value among the messages that the room has received since it was loaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    order: Option<u64>,
    /// The participant that sent it; 0 is the room itself.
    sender: u32,
    /// The participant that left, if this is the room's own entry about that.
    #[serde(skip_serializing_if = "Option::is_none")]
    departed: Option<u32>,
    /// Milliseconds since the sending application made it.
    age_ms: u64,
    /// The size of the content in bytes.
    size: usize,
    /// True if only the beginning of the content is shown.
    truncated: bool,
    #[serde(flatten)]
    content: Content,
    #[serde(flatten)]
    key: Option<Key>,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Content {
    Json(Value),
    Text(String),
    Base64(String),
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Key {
    Key(String),
    KeyBase64(String),
}

impl MessageLine {
    pub(super) fn new(one: LookedAt) -> Self {
        let is_transaction = one.position.get() > 0;
        let truncated = one.bytes.len() < one.size;
        MessageLine {
            position: is_transaction.then(|| one.position.get()),
            order: (!is_transaction).then(|| one.order.get()),
            sender: one.sender.get(),
            departed: one.departed.map(ParticipantId::get),
            age_ms: u64::try_from(one.age.as_millis()).unwrap_or(u64::MAX),
            size: one.size,
            truncated,
            content: content(&one, truncated),
            key: one.key.filter(|key| !key.is_empty()).map(key),
        }
    }
}

fn content(one: &LookedAt, truncated: bool) -> Content {
    if !one.text {
        return Content::Base64(BASE64_STANDARD.encode(&one.bytes));
    }
    let parsed = if truncated { None } else { serde_json::from_slice(&one.bytes).ok() };
    match parsed {
        Some(json) => Content::Json(json),
        None => Content::Text(beginning(&one.bytes).to_owned()),
    }
}

/// The text up to the last whole character.
fn beginning(bytes: &[u8]) -> &str {
    let end = match std::str::from_utf8(bytes) {
        Ok(_) => bytes.len(),
        Err(error) => error.valid_up_to(),
    };
    std::str::from_utf8(&bytes[..end]).unwrap_or_default()
}

fn key(key: Vec<u8>) -> Key {
    match String::from_utf8(key) {
        Ok(text) if !text.contains(char::is_control) => Key::Key(text),
        Ok(text) => Key::KeyBase64(BASE64_STANDARD.encode(text)),
        Err(error) => Key::KeyBase64(BASE64_STANDARD.encode(error.as_bytes())),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use groupwire_session::{Order, Position};
    use serde_json::json;

    use super::*;

    fn shown(text: bool, bytes: &[u8], size: usize, key: Option<&[u8]>) -> Value {
        let one = LookedAt {
            position: Position(7),
            order: Order(9),
            sender: ParticipantId(0),
            key: key.map(Into::into),
            text,
            departed: None,
            size,
            bytes: bytes.into(),
            age: Duration::from_millis(5),
        };
        serde_json::to_value(MessageLine::new(one)).unwrap()
    }

    #[test]
    fn contents_are_json_text_or_base64() {
        let json = shown(true, br#"{"a":[1]}"#, 9, Some(b"k"));
        let expected = json!({"position": 7, "sender": 0, "age_ms": 5, "size": 9, "truncated": false,
            "json": {"a": [1]}, "key": "k"});
        assert_eq!(json, expected);
        assert_eq!(shown(true, b"hello", 5, None)["text"], "hello");
        assert_eq!(shown(false, b"\xff\0", 2, Some(&[0xff]))["base64"], "/wA=");
        assert_eq!(shown(false, b"", 0, Some(&[0xff]))["key_base64"], "/w==");
        // Cut off in the middle of a character, and of JSON.
        let cut = shown(true, b"\"\xc3", 100, None);
        assert_eq!((&cut["text"], &cut["truncated"]), (&json!("\""), &json!(true)));
    }
}
