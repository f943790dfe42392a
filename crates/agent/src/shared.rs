//! The tools of shared data: maps, lists and counters of a room.

use groupwire_client::data::{Error as DataError, Guard, Json, Text};
use serde_json::{Value, json};

use crate::agent::{Agent, Outcome};
use crate::arguments::{ChangeShared, DataChange, DataKind, ReadShared};
use crate::error::ToolError;
use crate::inbox::Inbox;
use crate::results::{Page, beginning};

/// Most changes of one call.
const MAX_CHANGES: usize = 50;

impl Agent {
    pub(crate) async fn read_data(&self, arguments: ReadShared) -> Outcome {
        let ReadShared { room, name, kind, key, skip, limit } = arguments;
        let session = self.session(&room)?;
        let limits = self.limits();
        let data = session.data(limits.answer).await?;
        let (name, kind) = match (name, kind) {
            (Some(name), Some(kind)) => (name, kind),
            (None, None) => return Ok(names(&session.inbox())),
            _ => return Err(ToolError::argument("give name and kind, or neither")),
        };
        let max_bytes = limits.result_bytes;
        let mut data = data.lock();
        let entries = match (kind, key) {
            (DataKind::Counter, _) => return Ok(json!({ "value": data.counter(&name).value() })),
            (DataKind::Map, Some(key)) => {
                let value = data.map(&name).get(&key);
                return Ok(json!({ "value": value.map(|value| shown(&value, max_bytes)) }));
            }
            (DataKind::List, Some(id)) => {
                let value = data.list(&name).get(&id.as_str().into());
                return Ok(json!({ "value": value.map(|value| shown(&value, max_bytes)) }));
            }
            (DataKind::Map, None) => data.map(&name).entries(),
            (DataKind::List, None) => {
                let mut list = data.list(&name);
                list.ids().into_iter().zip(list.values()).collect()
            }
        };
        drop(data);
        let id = if kind == DataKind::Map { "key" } else { "id" };
        let mut page = Page::new(limits, limit, 50);
        let mut next = skip as usize;
        for (key, value) in entries.iter().skip(next) {
            let entry = json!({ id: key.to_string_lossy(), "value": shown(value, max_bytes) });
            if !page.push(entry) {
                break;
            }
            next += 1;
        }
        let next_skip = (next < entries.len()).then_some(next);
        Ok(json!({ "entries": page.into_items(), "count": entries.len(), "next_skip": next_skip }))
    }

    pub(crate) async fn change_data(&self, arguments: ChangeShared) -> Outcome {
        let ChangeShared { room, changes } = arguments;
        let session = self.session(&room)?;
        let limits = self.limits();
        if !(1..=MAX_CHANGES).contains(&changes.len()) {
            return Err(ToolError::argument(format!("give 1 to {MAX_CHANGES} changes")));
        }
        let bytes: usize = changes.iter().map(size).sum();
        if bytes > limits.message_bytes {
            let limit = limits.message_bytes;
            let message = format!("the values have {bytes} bytes; the limit of a call is {limit}");
            return Err(ToolError::new("too-large", message));
        }
        self.take_change()?;
        let change = |data: &groupwire_client::data::SharedData| apply(&mut data.lock(), changes);
        let (ids, confirmed) = session.change_data(limits.answer, change).await?;
        Ok(json!({ "changed": true, "inserted_ids": ids, "confirmed": confirmed }))
    }

    pub(crate) async fn undo_data(&self, room: String) -> Outcome {
        let session = self.session(&room)?;
        self.take_change()?;
        let undo = |data: &groupwire_client::data::SharedData| Ok(data.lock().undo()?);
        let (undone, confirmed) = session.change_data(self.limits().answer, undo).await?;
        Ok(json!({ "undone": undone, "confirmed": confirmed }))
    }
}

/// Makes all changes as one operation, and returns the ids of inserted items.
fn apply(data: &mut Guard<'_>, changes: Vec<DataChange>) -> Result<Vec<String>, ToolError> {
    // Of the items of lists, those that this call inserts have ids that no change can name.
    for change in &changes {
        if let DataChange::ListSet { name, id, .. }
        | DataChange::ListMove { name, id, .. }
        | DataChange::ListDelete { name, id } = change
            && data.list(name).get(&id.as_str().into()).is_none()
        {
            let message =
                format!("the list {name:?} has no item {id:?}: read it again. Nothing was changed");
            return Err(ToolError::new("no-such-item", message));
        }
    }
    data.batch(|data| {
        let mut ids = Vec::new();
        for change in changes {
            match change {
                DataChange::MapSet { name, key, value } => {
                    data.map(&name).set(&key, json_of(&value))?;
                }
                DataChange::MapDelete { name, key } => data.map(&name).delete(&key)?,
                DataChange::ListInsert { name, index, value } => {
                    let index = index.map_or(usize::MAX, |index| index as usize);
                    let id = data.list(&name).insert(index, json_of(&value))?;
                    ids.push(id.to_string_lossy().into_owned());
                }
                DataChange::ListSet { name, id, value } => {
                    data.list(&name).set(&Text::from(id.as_str()), json_of(&value))?;
                }
                DataChange::ListMove { name, id, index } => {
                    data.list(&name).move_to(&Text::from(id.as_str()), index as usize)?;
                }
                DataChange::ListDelete { name, id } => {
                    data.list(&name).delete(&Text::from(id.as_str()))?;
                }
                DataChange::CounterAdd { name, by } => data.counter(&name).add(by)?,
            }
        }
        Ok(ids)
    })
    .map_err(Into::into)
}

fn names(inbox: &Inbox) -> Value {
    let names = inbox.data_names.iter();
    let names: Vec<Value> =
        names.map(|(name, kind)| json!({ "name": name, "kind": kind })).collect();
    json!({ "names": names })
}

/// A value as JSON, or the beginning of its text if it is longer than a result may be.
fn shown(value: &Json, max_bytes: usize) -> Value {
    let text = value.to_string();
    if text.len() > max_bytes {
        let start = beginning(&text, max_bytes);
        return json!({ "cut_from_bytes": text.len(), "start": start });
    }
    // A text with half of a character is no text for the reader.
    serde_json::from_str(&text).unwrap_or(Value::String(text))
}

fn json_of(value: &Value) -> Json {
    // Values that are too deep are refused by the shared data.
    Json::parse(&value.to_string()).expect("serde_json writes JSON")
}

fn size(change: &DataChange) -> usize {
    match change {
        DataChange::MapSet { value, .. }
        | DataChange::ListInsert { value, .. }
        | DataChange::ListSet { value, .. } => value.to_string().len(),
        _ => 0,
    }
}

impl From<DataError<groupwire_client::Error>> for ToolError {
    fn from(error: DataError<groupwire_client::Error>) -> Self {
        match error {
            DataError::Send(error) => error.into(),
            error => ToolError::new(error.code(), error.to_string()),
        }
    }
}
