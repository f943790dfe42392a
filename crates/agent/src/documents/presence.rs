//! What others see of the agent beside a document: its awareness, as `groupwire-yjs` sends it, each
//! field under the key `ID/field`, and `ID` alone for the client itself. Pure.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// The color of an agent's cursor, a violet on which white is legible.
const COLOR: &str = "#6d4aff";

/// See the [module](self).
#[derive(Default)]
pub(super) struct Presence {
    client: Option<u64>,
    /// The fields as the room has them, in JSON.
    fields: BTreeMap<&'static str, String>,
}

/// A value for the channel of awareness.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Keyed {
    pub(super) key: String,
    pub(super) text: String,
}

impl Presence {
    /// Shows that the agent of this name edits as this client of the document.
    pub(super) fn show(&mut self, client: u64, name: &str) -> Vec<Keyed> {
        if self.client == Some(client) {
            return Vec::new();
        }
        let mut values = self.hide();
        self.client = Some(client);
        // The names of fields that bindings of editors read, and the mark.
        let user = json!({ "name": name, "color": COLOR, "agent": true });
        self.fields.insert("user", user.to_string());
        values.extend(self.all());
        values
    }

    /// Shows a selection, or none.
    pub(super) fn select(&mut self, selection: Option<&Value>) -> Vec<Keyed> {
        let Some(client) = self.client else { return Vec::new() };
        let text = selection.map_or("null".to_owned(), Value::to_string);
        if self.fields.get("cursor").map_or("null", String::as_str) == text {
            return Vec::new();
        }
        self.fields.insert("cursor", text.clone());
        vec![Keyed { key: format!("{client}/cursor"), text }]
    }

    /// Everything, for a room that has forgotten this participant.
    pub(super) fn all(&self) -> Vec<Keyed> {
        let Some(client) = self.client else { return Vec::new() };
        let fields = self
            .fields
            .iter()
            .map(|(field, text)| Keyed { key: format!("{client}/{field}"), text: text.clone() });
        let here = Keyed { key: client.to_string(), text: "here".to_owned() };
        fields.chain([here]).collect()
    }

    /// Hides the client, which edits no longer.
    pub(super) fn hide(&mut self) -> Vec<Keyed> {
        let client = std::mem::take(self).client;
        client
            .map(|client| Keyed { key: client.to_string(), text: String::new() })
            .into_iter()
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(values: Vec<Keyed>) -> Vec<(String, String)> {
        values.into_iter().map(|Keyed { key, text }| (key, text)).collect()
    }

    #[test]
    fn who_edits_is_marked_and_only_changes_are_sent() {
        let ada = "Ada's bot";
        let pair = |key: &str, text: &str| (key.to_owned(), text.to_owned());
        let user = r##"{"agent":true,"color":"#6d4aff","name":"Ada's bot"}"##;
        let mut presence = Presence::default();
        assert!(presence.select(Some(&json!(1))).is_empty(), "nobody edits yet");
        assert_eq!(pairs(presence.show(7, ada)), [pair("7/user", user), pair("7", "here")]);
        assert!(presence.show(7, ada).is_empty());
        assert!(presence.select(None).is_empty());
        assert_eq!(pairs(presence.select(Some(&json!([1])))), [pair("7/cursor", "[1]")]);
        assert!(presence.select(Some(&json!([1]))).is_empty());
        assert_eq!(pairs(presence.select(None)), [pair("7/cursor", "null")]);
        let other = pairs(presence.show(8, ada));
        assert_eq!(other, [pair("7", ""), pair("8/user", user), pair("8", "here")]);
    }
}
