//! The commands for shared data.

use groupwire_client::data::{Definitions, Error, Guard, Json, SharedOptions, Text};
use serde_json::{Map, Value, json};

use crate::commands::text_of;
use crate::driver::{Driver, Failure};

impl Driver {
    /// Opens shared data, or changes it.
    pub(crate) fn change_data(&mut self, command: &Value) -> Result<(), Failure> {
        if text_of(command, "do") == "share" {
            let shared = self.room()?.shared(Definitions::new(), SharedOptions::default())?;
            self.data = Some(shared);
            return Ok(());
        }
        let (key, by) = (text_of(command, "key"), command["by"].as_i64().unwrap_or(0));
        let value = || json_of(text_of(command, "value"));
        let mut data = self.data()?;
        match text_of(command, "do") {
            "put" => data.map("shapes").set(key, value()?)?,
            "patch" => data.map("shapes").patch(key, value()?, &[])?,
            "remove" => data.map("shapes").delete(key)?,
            "push" => drop(data.list("texts").push(value()?)?),
            "insert" => drop(data.list("texts").insert(index(command, "at"), value()?)?),
            "change" => {
                let id = item(&mut data, command)?;
                data.list("texts").set(&id, value()?)?;
            }
            "move" => {
                let id = item(&mut data, command)?;
                data.list("texts").move_to(&id, index(command, "place"))?;
            }
            "delete" => {
                let id = item(&mut data, command)?;
                data.list("texts").delete(&id)?;
            }
            "add" => data.counter("likes").add(by)?,
            "group" => {
                let value = value()?;
                data.batch(|data| {
                    data.map("shapes").set(key, value)?;
                    data.counter("likes").add(by)
                })?;
            }
            "undo" => drop(data.undo()?),
            "redo" => drop(data.redo()?),
            "acquire" => data.lock("pen").acquire()?,
            "release" => data.lock("pen").release()?,
            "joinTurns" => data.turns("game").join()?,
            "leaveTurns" => data.turns("game").leave()?,
            "nextTurn" => data.turns("game").end_turn()?,
            other => return Err(Failure::new("unsupported", format!("no command {other}"))),
        }
        Ok(())
    }

    /// The data, for the command `data`.
    pub(crate) fn shown(&self) -> Result<Value, Failure> {
        let mut data = self.data()?;
        let mut shapes = Map::new();
        for (key, value) in data.map("shapes").entries() {
            shapes.insert(key.to_string(), plain(&value)?);
        }
        let texts = data.list("texts").values();
        let texts = texts.iter().map(plain).collect::<Result<Vec<_>, _>>()?;
        Ok(json!({
            "shapes": shapes,
            "texts": texts,
            "likes": data.counter("likes").value(),
            "holder": data.lock("pen").holder().unwrap_or(0),
            "isMine": data.lock("pen").is_mine(),
            "turns": data.turns("game").participants(),
            "pending": data.pending(),
        }))
    }

    fn data(&self) -> Result<Guard<'_>, Failure> {
        let data = self.data.as_ref().ok_or_else(|| Failure::new("closed", "share first"))?;
        Ok(data.lock())
    }
}

impl From<Error<groupwire_client::Error>> for Failure {
    fn from(error: Error<groupwire_client::Error>) -> Self {
        Failure::new(error.code(), error)
    }
}

/// The id of the list's item at the index `at`.
fn item(data: &mut Guard<'_>, command: &Value) -> Result<Text, Failure> {
    let at = index(command, "at");
    let found = data.list("texts").ids().into_iter().nth(at);
    found.ok_or_else(|| Failure::new("invalid-argument", "there is no item at this index"))
}

fn index(command: &Value, name: &str) -> usize {
    command[name].as_u64().and_then(|index| usize::try_from(index).ok()).unwrap_or(0)
}

fn json_of(text: &str) -> Result<Json, Failure> {
    Json::parse(text).map_err(|error| Failure::new("not-json", error))
}

fn plain(value: &Json) -> Result<Value, Failure> {
    serde_json::from_str(&value.to_string()).map_err(|error| Failure::new("not-json", error))
}
