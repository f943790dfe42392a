//! Previews: unfinished changes such as a drag, sent as awareness whose key names the value. A
//! preview ends with the next operation of its sender on the same key.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::json::{Json, Object};
use crate::operation::MAX_DEPTH;
use crate::ordered::Ordered;
use crate::tables::{CELLS, Changes, note, table_of};
use crate::text::{Text, joined, of_units};

/// Limit of previews of a participant: nobody changes more at once.
const MOST: usize = 200;

/// The fields of a value that a preview changes.
type Patch = Arc<Object>;

#[derive(Debug, Default)]
pub(crate) struct Previews {
    /// This program's previews: all fields since the last operation on the key, because a later
    /// preview replaces an earlier one.
    own: BTreeMap<Text, Patch>,
    /// The previews that other participants sent, by name and key, then by sender. The latest comes
    /// last, so its fields win.
    others: Ordered<Text, Ordered<u64, Patch>>,
}

impl Previews {
    /// The message that shows fields to the others, or ends the preview (`None`), and its key. The
    /// first `None`: there is nothing to send.
    pub(crate) fn send(
        &mut self,
        name: &Text,
        key: &Text,
        fields: Option<&Object>,
    ) -> Option<(Text, String)> {
        let id = id_of(name, key);
        let Some(fields) = fields else {
            self.own.remove(&id)?;
            return Some((id, "null".into()));
        };
        let merged: Patch = Arc::new(match self.own.get(&id) {
            Some(before) => with(before, fields),
            None => fields.clone(),
        });
        self.own.insert(id.clone(), Arc::clone(&merged));
        Some((id, Json::Object(merged).to_string()))
    }

    /// The value with all previews of others applied; `None` if there are none.
    pub(crate) fn apply(&self, name: &Text, key: &Text, value: &Json) -> Option<Json> {
        let senders = self.others.get(&id_of(name, key))?;
        let shown = value.as_object()?.clone();
        Some(senders.iter().fold(shown, |shown, (_, patch)| with(&shown, patch)).into())
    }

    /// Called when this program performs an operation on a key: ends its preview.
    pub(crate) fn performed(&mut self, name: &Text, key: &Text) {
        self.own.remove(&id_of(name, key));
    }

    /// Called when an operation on a key is ordered: ends the sender's preview.
    pub(crate) fn ordered(&mut self, sender: u64, name: &Text, key: &Text, changes: &mut Changes) {
        self.remove(&id_of(name, key), sender, changes);
    }

    /// A preview has come. `message` is `None` if it is not text.
    pub(crate) fn receive(
        &mut self,
        sender: u64,
        id: &Text,
        message: Option<&str>,
        changes: &mut Changes,
    ) {
        let patch = message.and_then(|message| Json::parse(message).ok());
        let Some(Json::Object(patch)) = patch.filter(|patch| patch.is_within(MAX_DEPTH)) else {
            return self.remove(id, sender, changes);
        };
        let is_known =
            self.others.get_mut(id).is_some_and(|senders| senders.remove(&sender).is_some());
        let count =
            || self.others.iter().filter(|(_, senders)| senders.get(&sender).is_some()).count();
        if !is_known && count() >= MOST {
            return;
        }
        match self.others.get_mut(id) {
            Some(senders) => senders.insert(sender, patch),
            None => self.others.insert(id.clone(), [(sender, patch)].into_iter().collect()),
        }
        notify(id, changes);
    }

    /// Ends the previews of participants for whom `is_here` is false.
    pub(crate) fn keep(&mut self, is_here: impl Fn(u64) -> bool, changes: &mut Changes) {
        let all = self
            .others
            .iter()
            .flat_map(|(id, senders)| senders.iter().map(move |(sender, _)| (id, *sender)));
        let gone: Vec<_> = all
            .filter(|(_, sender)| !is_here(*sender))
            .map(|(id, sender)| (id.clone(), sender))
            .collect();
        gone.iter().for_each(|(id, sender)| self.remove(id, *sender, changes));
    }

    fn remove(&mut self, id: &Text, sender: u64, changes: &mut Changes) {
        let Some(senders) = self.others.get_mut(id) else { return };
        if senders.remove(&sender).is_none() {
            return;
        }
        if senders.is_empty() {
            self.others.remove(id);
        }
        notify(id, changes);
    }
}

/// The members of one object, replaced and followed by those of another.
pub(crate) fn with(one: &Object, other: &Object) -> Object {
    one.iter().chain(other.iter()).map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Names have no slash.
fn id_of(name: &Text, key: &Text) -> Text {
    joined([name, &"/".into(), key])
}

fn notify(id: &Text, changes: &mut Changes) {
    let units: Vec<u16> = id.units().collect();
    // No program of this project sends a key without a slash.
    let Some(at) = units.iter().position(|unit| *unit == u16::from(b'/')) else { return };
    let (name, key) = units.split_at(at);
    let [name, key] =
        [name, key.get(1..).unwrap_or_default()].map(|units| of_units(units.iter().copied()));
    note(changes, &table_of(CELLS, &name), &key);
}
