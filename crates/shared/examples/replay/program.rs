//! A program of a recorded session: the counterpart of web/client/test/shared/world.ts.

use std::collections::BTreeMap;
use std::mem::take;

use groupwire_shared::{
    Change, Definitions, Error, Event, Gap, Input, Json, Kind, Link, Lost, Reducer, Shared, Taken,
    Text,
};

use crate::sessions::split;

/// Collects what a program sends.
pub(crate) struct Channels {
    mode: String,
    sent: Vec<Json>,
}

/// This participant may not publish.
#[derive(Debug)]
pub(crate) struct Refused;

impl Link for Channels {
    type Error = Refused;

    fn send(&mut self, operation: &str) -> Result<Taken, Refused> {
        match self.mode.as_str() {
            "refuse" => return Err(Refused),
            "not-now" => return Ok(Taken::NotNow),
            _ => {}
        }
        self.sent.push(operation.into());
        Ok(Taken::Yes)
    }

    fn preview(&mut self, key: &str, text: &str) {
        self.sent.push(Json::from_iter(["preview".into(), key.into(), text.into()]));
    }
}

pub(crate) struct Program {
    data: Shared<Channels>,
    /// False for an older version of the application, which lacks some of the data.
    is_whole: bool,
    /// The state at the last look, to show it if it differs.
    pub(crate) looked: String,
}

type Outcome = Result<Json, Error<Refused>>;

impl Program {
    pub(crate) fn open(arguments: &[Json]) -> Self {
        let author = arguments.first().and_then(Json::as_str).unwrap_or_default();
        let is_whole = arguments.get(1) == Some(&Json::Bool(true));
        let definitions = if is_whole { definitions() } else { Definitions::new() };
        let channels = Channels { mode: "yes".to_owned(), sent: Vec::new() };
        Program {
            data: Shared::new(author, definitions, channels),
            is_whole,
            looked: String::new(),
        }
    }

    /// Does a step. Returns the result and what was sent.
    pub(crate) fn run(&mut self, what: &str, arguments: &[Json]) -> Json {
        let result = match what {
            "open" => Json::Null,
            "tell" => self.told(),
            "look" => self.look(),
            "ids" => self.data.list("texts").ids().iter().map(Json::from).collect(),
            "make" => self.data.snapshot().map_or(Json::Null, Json::from),
            "mode" => {
                self.data.link_mut().mode = text(arguments, 0).to_string();
                Json::Null
            }
            _ if self.input(what, arguments) => Json::Null,
            _ => call(&mut self.data, what, arguments).unwrap_or_else(|_| "error".into()),
        };
        let sent = take(&mut self.data.link_mut().sent);
        Json::from_iter([result, sent.into()])
    }

    /// Passes an input on, if the step is one.
    fn input(&mut self, what: &str, arguments: &[Json]) -> bool {
        let number =
            |at: usize| arguments.get(at).and_then(Json::as_whole).unwrap_or_default() as u64;
        let string = |at: usize| arguments.get(at).and_then(Json::as_str);
        let others: BTreeMap<u64, bool>;
        let input = match what {
            "message" => Input::Message { sender: number(0), text: string(1) },
            "departed" => Input::Departed(number(0)),
            "preview-in" => Input::Preview {
                sender: number(0),
                key: string(1).unwrap_or_default(),
                text: string(2),
                is_stale: arguments.get(3) == Some(&Json::Bool(true)),
            },
            "snapshot" => Input::Snapshot(string(0).unwrap_or_default().as_bytes()),
            "gap" => match string(0) {
                Some("incarnation") => Input::Gap(Gap::Incarnation),
                Some("history") => Input::Gap(Gap::History),
                Some("reset") => Input::Gap(Gap::Reset),
                _ => return true,
            },
            "synced" => Input::Synced,
            "drain" => Input::Drain,
            "unconfirmed" => Input::Unconfirmed(number(0) as usize),
            "participants" => {
                let list = arguments.get(1).and_then(Json::as_array).unwrap_or_default();
                let other = |one: &Json| {
                    Some((one.at(0)?.as_whole()? as u64, one.at(1) == Some(&Json::Bool(true))))
                };
                others = list.iter().filter_map(other).collect();
                let is_connected = arguments.get(2) == Some(&Json::Bool(true));
                Input::Participants { me: Some(number(0)), others: &others, is_connected }
            }
            _ => return false,
        };
        self.data.handle_input(input);
        true
    }

    /// What the application was told since the last time.
    fn told(&mut self) -> Json {
        let mut events = Vec::new();
        while let Some(event) = self.data.poll_event() {
            events.push(match event {
                Event::Changed(changes) => {
                    let known = changes.iter().filter_map(|change| self.changed(change));
                    Json::from_iter(["changed".into(), known.collect()])
                }
                Event::Operation { sender, changes } => {
                    let change = |(name, key): &(Text, Option<Text>)| {
                        Json::from_iter([name.into(), key.as_ref().map_or(Json::Null, Json::from)])
                    };
                    let changes = changes.iter().map(change).collect();
                    Json::from_iter(["operation".into(), number(sender), changes])
                }
                Event::Lost(lost) => {
                    let why = match lost {
                        Lost::History => "history",
                        Lost::Restart => "restart",
                        _ => "snapshot",
                    };
                    Json::from_iter([Json::from("lost"), why.into()])
                }
                other => format!("{other:?}").into(),
            });
        }
        events.into()
    }

    /// A change of data that this program knows.
    fn changed(&self, change: &Change) -> Option<Json> {
        let (letter, names): (_, &[&str]) = match change.kind {
            Kind::Cells => ("m", &["shapes", "notes", "texts"]),
            Kind::Counter => ("c", &["score"]),
            Kind::Reducer => ("r", &["ledger", "total"]),
            Kind::Lock => ("l", &["pen"]),
            _ => ("t", &["game"]),
        };
        let name = names.iter().find(|name| change.name == **name)?;
        let is_known = self.is_whole || ["shapes", "score"].contains(name);
        let keys = change.keys.iter().map(Json::from).collect();
        is_known.then(|| Json::from_iter([letter.into(), (*name).into(), keys]))
    }

    /// Everything that can be seen, and the state as a snapshot has it, as a hash.
    fn look(&mut self) -> Json {
        let data = &mut self.data;
        let state = Json::from(data.state().to_string());
        let flags = Json::from_iter([
            number(data.pending() as u64),
            data.is_complete().into(),
            data.is_restoring().into(),
            data.can_undo().into(),
            data.can_redo().into(),
        ]);
        let mut entries = data.map("shapes").entries();
        entries.sort_by_cached_key(|(key, _)| key.units().collect::<Vec<_>>());
        let shape = |(key, value): (Text, Json)| {
            // No program sets the value of a key that is not Unicode.
            let shown = key.as_str().and_then(|key| data.map("shapes").previewed(key));
            Json::from_iter([Json::from(&key), value.clone(), shown.unwrap_or(value)])
        };
        let shapes = entries.into_iter().map(shape).collect();
        let score = Json::Number(data.counter("score").value() as f64);
        let mut all = vec![state, flags, shapes, score];
        if self.is_whole {
            all.push(data.list("texts").ids().iter().map(Json::from).collect());
            all.push(data.list("texts").values().into());
            let (mut lock, line) =
                (data.lock("pen"), |ids: Vec<u64>| ids.into_iter().map(number).collect());
            let holder = lock.holder().map_or(Json::Null, number);
            let is_mine = lock.is_mine().into();
            let mut turns = data.turns("game");
            let line: Json = line(turns.participants());
            all.push(Json::from_iter([holder, is_mine, line, turns.is_mine().into()]));
            all.push(data.reduced("ledger").value());
            all.push(data.reduced("total").value());
        }
        self.looked = Json::from(all).to_string();
        hash(&self.looked).into()
    }
}

fn definitions() -> Definitions {
    let ledger = Reducer::new(Json::from(Vec::new()), |entries, entry, _| {
        Some(entries.as_array()?.iter().cloned().chain([entry.clone()]).collect())
    });
    let total = Reducer::new(total(0.0, 0.0), |value, by, _| {
        let (sum, by) = (value.get("sum")?.as_f64()?, by.as_f64()?);
        Some(total(sum + by, by))
    })
    .undo(|by, _| Some(Json::Number(-by.as_f64()?)));
    Definitions::new().reducer("ledger", ledger).reducer("total", total)
}

fn total(sum: f64, last: f64) -> Json {
    Json::object([("sum", sum.into()), ("last", last.into())])
}

/// A call of the application.
fn call(data: &mut Shared<Channels>, what: &str, arguments: &[Json]) -> Outcome {
    let name = arguments.first().and_then(Json::as_str).unwrap_or_default();
    let argument = |at: usize| arguments.get(at).cloned().unwrap_or(Json::Null);
    let key = arguments.get(1).and_then(Json::as_str).unwrap_or_default();
    let index = |at: usize| arguments.get(at).and_then(Json::as_whole).unwrap_or_default() as usize;
    let done = match (what, name) {
        ("undo", _) => return data.undo().map(Json::from),
        ("redo", _) => return data.redo().map(Json::from),
        ("batch", _) => return batch(data, arguments),
        ("insert", _) => return data.list(name).insert(index(1), argument(2)).map(Json::from),
        ("push", _) => return data.list(name).push(argument(1)).map(Json::from),
        ("set", "texts") => data.list(name).set(&text(arguments, 1), argument(2)),
        ("move", _) => data.list(name).move_to(&text(arguments, 1), index(2)),
        ("delete", "texts") => data.list(name).delete(&text(arguments, 1)),
        ("set", _) => data.map(name).set(key, argument(2)),
        ("patch", _) => {
            let removed = argument(3);
            let removed = removed.as_array().unwrap_or_default().iter().filter_map(Json::as_str);
            data.map(name).patch(key, argument(2), &removed.collect::<Vec<_>>())
        }
        ("delete", _) => data.map(name).delete(key),
        ("preview", _) => {
            data.map(name).preview(key, Some(argument(2)).filter(|fields| *fields != Json::Null))
        }
        ("add", _) => data.counter(name).add(argument(1).as_whole().unwrap_or_default()),
        ("dispatch", _) => data.reduced(name).dispatch(argument(1)),
        ("acquire", _) => data.lock(name).acquire(),
        ("release", _) => data.lock(name).release(),
        ("join", _) => data.turns(name).join(),
        ("leave", _) => data.turns(name).leave(),
        ("next", _) => data.turns(name).end_turn(),
        _ => panic!("no step of a program: {what}"),
    };
    done.map(|()| Json::Null)
}

fn batch(data: &mut Shared<Channels>, arguments: &[Json]) -> Outcome {
    let steps = arguments.first().and_then(Json::as_array).unwrap_or_default();
    let is_taken_back = arguments.get(1) == Some(&Json::Bool(true));
    data.batch(|data| {
        let run =
            |step: &Json| split(step).map_or(Ok(Json::Null), |(what, rest)| call(data, what, rest));
        let results = steps.iter().map(run).collect::<Result<Vec<_>, _>>()?;
        if is_taken_back { Err(Error::Key) } else { Ok(results.into()) }
    })
}

fn text(arguments: &[Json], at: usize) -> Text {
    arguments.get(at).and_then(Json::as_text).cloned().unwrap_or_else(|| "".into())
}

fn number(number: u64) -> Json {
    Json::Number(number as f64)
}

/// 53 bits of a text, of its UTF-16 units (cyrb53).
fn hash(text: &str) -> String {
    let (mut high, mut low) = (0xdead_beef_u32, 0x41c6_ce57_u32);
    for unit in text.encode_utf16() {
        high = (high ^ u32::from(unit)).wrapping_mul(2_654_435_761);
        low = (low ^ u32::from(unit)).wrapping_mul(1_597_334_677);
    }
    high = (high ^ high >> 16).wrapping_mul(2_246_822_507)
        ^ (low ^ low >> 13).wrapping_mul(3_266_489_909);
    low = (low ^ low >> 16).wrapping_mul(2_246_822_507)
        ^ (high ^ high >> 13).wrapping_mul(3_266_489_909);
    format!("{high:08x}{low:08x}")
}
