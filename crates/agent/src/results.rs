//! The results of the tools, as JSON.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use groupwire_client::{ParticipantChange, ParticipantId, PresenceState};
use serde_json::{Map, Value, json};

use crate::buffer::Stored;
use crate::limits::Limits;

/// Items of a result, within its limits.
pub(crate) struct Page {
    items: Vec<Value>,
    bytes: usize,
    max_bytes: usize,
    max_items: usize,
}

impl Page {
    pub(crate) fn new(limits: &Limits, asked: Option<u32>, usual: usize) -> Self {
        let asked = asked.map_or(usual, |asked| asked as usize);
        let max_items = asked.clamp(1, limits.result_items);
        Page { items: Vec::new(), bytes: 0, max_bytes: limits.result_bytes, max_items }
    }

    /// Adds an item. False: it is left for the next page.
    pub(crate) fn push(&mut self, item: Value) -> bool {
        let bytes = item.to_string().len();
        // The first item is always taken, so that pages end.
        let fits = self.items.is_empty()
            || (self.items.len() < self.max_items && self.bytes + bytes <= self.max_bytes);
        if fits {
            self.bytes += bytes;
            self.items.push(item);
        }
        fits
    }

    pub(crate) fn into_items(self) -> Vec<Value> {
        self.items
    }
}

/// A message as the agent sees it. At most `max_bytes` of its content are shown.
pub(crate) fn message(stored: &Stored, max_bytes: usize) -> Value {
    let message = &stored.message;
    let mut fields = Map::new();
    let mut set = |name: &str, value: Value| fields.insert(name.to_owned(), value);
    set("number", stored.number.into());
    set("sender", message.sender.get().into());
    if let Some(participant) = message.departed {
        set("departed", participant.get().into());
        return fields.into();
    }
    if let Some(key) = &message.key {
        set("key", String::from_utf8_lossy(key).into());
    }
    for (name, holds) in [("own", message.own), ("late_joiner_state", message.state)] {
        if holds {
            set(name, true.into());
        }
    }
    if message.to.is_some() {
        set("direct", true.into());
    }
    match std::str::from_utf8(&message.bytes) {
        Ok(text) => {
            set("text", beginning(text, max_bytes).into());
        }
        Err(_) => {
            let shown = &message.bytes[..message.bytes.len().min(max_bytes)];
            set("base64", STANDARD.encode(shown).into());
        }
    }
    if message.bytes.len() > max_bytes {
        set("cut_from_bytes", message.bytes.len().into());
    }
    fields.into()
}

/// A participant as the agent sees it.
pub(crate) fn participant(change: &ParticipantChange, me: Option<ParticipantId>) -> Value {
    let presence = match serde_json::from_slice::<Value>(&change.presence) {
        _ if change.presence.is_empty() => Value::Null,
        Ok(presence) => presence,
        Err(_) => String::from_utf8_lossy(&change.presence).into(),
    };
    let mut item = json!({
        "participant": change.id.get(),
        "state": if change.state == PresenceState::Here { "here" } else { "away" },
        "presence": presence,
    });
    if let Some(user) = &change.user {
        item["verified_user"] = user.as_str().into();
    }
    if me == Some(change.id) {
        item["me"] = true.into();
    }
    item
}

/// The beginning of a text, of at most `max_bytes` and of whole characters.
pub(crate) fn beginning(text: &str, max_bytes: usize) -> &str {
    let mut end = max_bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::tests::message as incoming;

    #[test]
    fn long_messages_are_cut_between_characters_and_bytes_are_base64() {
        let mut stored = Stored { number: 3, message: incoming(0) };
        stored.message.bytes = "aä".into();
        assert_eq!(
            message(&stored, 2),
            json!({"number": 3, "sender": 1, "text": "a", "cut_from_bytes": 3})
        );
        stored.message.bytes = vec![0xff, 0];
        assert_eq!(message(&stored, 9), json!({"number": 3, "sender": 1, "base64": "/wA="}));
    }

    #[test]
    fn a_page_ends_at_its_limits_but_has_one_item() {
        let limits = Limits { result_bytes: 10, result_items: 3, ..Limits::default() };
        let mut page = Page::new(&limits, Some(1_000_000), 50);
        assert!(page.push("longer than ten bytes".into()));
        assert!(!page.push(1.into()));
        let mut page = Page::new(&limits, None, 50);
        assert_eq!((0..9).filter(|&number| page.push(number.into())).count(), 3);
        assert_eq!(page.into_items(), [0, 1, 2]);
    }
}
