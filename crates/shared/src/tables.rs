//! The state of shared data: a reducer over operations. It ignores schemas and accepts any name, so
//! all programs that saw the same operations have the same state, whatever their version of the
//! application.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use crate::cell::{Cell, is_cell, is_equal_json, new_cell, patch_entries};
use crate::effect::{Before, Deleted, Effect};
use crate::json::{Json, Object, whole};
use crate::operation::{Action, MAX_DEPTH, id_at, name_of};
use crate::ordered::Ordered;
use crate::reducer::Reducer;
use crate::text::{Text, joined};

/// How many deleted values are remembered, so that the undo of a deletion brings back a value only
/// if nobody did anything else with it since. They take 100 bytes each of a snapshot.
const MAX_DELETED: usize = 2000;

/// The first letter of a table's name, before the name of the data: its kind.
pub(crate) const CELLS: &str = "m";
pub(crate) const COUNTER: &str = "c";
pub(crate) const REDUCED: &str = "r";
pub(crate) const LOCK: &str = "l";
pub(crate) const TURNS: &str = "t";

pub(crate) type Table = Ordered<Text, Json>;

/// The keys that may have changed, by table.
pub(crate) type Changes = Ordered<Text, Ordered<Text, ()>>;

#[derive(Debug, Default)]
pub(crate) struct Tables {
    tables: Ordered<Text, Table>,
    deleted: VecDeque<Deleted>,
    reducers: BTreeMap<Text, Reducer>,
    /// Keys that have changed since the last [`Event::Changed`](crate::Event::Changed).
    pub(crate) changes: Changes,
    /// True if there were actions for reducers that this program does not have.
    pub(crate) is_partial: bool,
}

/// The state of another program is malformed.
#[derive(Debug)]
pub(crate) struct Malformed;

/// The name of a table.
pub(crate) fn table_of(kind: &str, name: &Text) -> Text {
    joined([&kind.into(), name])
}

impl Tables {
    pub(crate) fn new(reducers: BTreeMap<Text, Reducer>) -> Self {
        Tables { reducers, ..Tables::default() }
    }

    pub(crate) fn value(&self, kind: &str, name: &Text, key: &Text) -> Option<&Json> {
        self.tables.get(&table_of(kind, name))?.get(key)
    }

    /// The value of data that has one.
    pub(crate) fn only(&self, kind: &str, name: &Text) -> Option<&Json> {
        self.value(kind, name, &"".into())
    }

    pub(crate) fn cell(&self, name: &Text, key: &Text) -> Option<Cell<'_>> {
        self.value(CELLS, name, key).and_then(Cell::of)
    }

    pub(crate) fn cells(&self, name: &Text) -> impl Iterator<Item = (&Text, Cell<'_>)> {
        let table = self.tables.get(&table_of(CELLS, name));
        table
            .into_iter()
            .flat_map(Table::iter)
            .filter_map(|(key, cell)| Some((key, Cell::of(cell)?)))
    }

    pub(crate) fn reducer(&self, name: &Text) -> Option<&Reducer> {
        self.reducers.get(name)
    }

    /// Applies the actions of an operation from the index `from` on. Locks and turns go to the
    /// participant `sender`; without it, the operation is not ordered yet, and its actions on locks
    /// and turns have no effect.
    pub(crate) fn apply(
        &mut self,
        actions: &[Action],
        stamp: &Text,
        sender: Option<u64>,
        effect: &mut Effect,
        from: usize,
    ) {
        for (at, action) in actions.iter().enumerate().skip(from) {
            if let Some(sender) = sender {
                self.hold_one(action, sender, effect);
            }
            self.act(action, stamp, at, effect);
        }
    }

    /// Applies an operation's actions on locks and turns, once it is ordered.
    pub(crate) fn hold(&mut self, actions: &[Action], sender: u64, effect: &mut Effect) {
        actions.iter().for_each(|action| self.hold_one(action, sender, effect));
    }

    /// A participant has left the room for good.
    pub(crate) fn departed(&mut self, participant: u64, effect: &mut Effect) {
        for name in self.holders() {
            if name.bytes().starts_with(LOCK.as_bytes()) {
                if self.only_of(&name) == Some(&whole(participant)) {
                    self.write(&name, &"".into(), None, effect);
                }
            } else {
                self.leave_turns(&name, participant, effect);
            }
        }
    }

    /// Remembers what an ordered operation deleted.
    pub(crate) fn settle(&mut self, deleted: impl IntoIterator<Item = Deleted>) {
        self.deleted.extend(deleted);
        while self.deleted.len() > MAX_DELETED {
            let Some(deleted) = self.deleted.pop_front() else { return };
            let [table, key, stamp] = &deleted[..] else { continue };
            let cell = self.tables.get(table).and_then(|table| Cell::of(table.get(key)?));
            if cell.is_some_and(|cell| cell.is_deleted() && cell.stamp() == Some(&stamp.into())) {
                self.put(table, key, None);
            }
        }
    }

    /// Forgets who holds locks and turns.
    pub(crate) fn drop_holders(&mut self) {
        for name in self.holders() {
            self.put(&name, &"".into(), None);
        }
    }

    pub(crate) fn encode(&self) -> Json {
        let table = |table: &Table| -> Json {
            table.iter().map(|(key, value)| Json::from_iter([key.into(), value.clone()])).collect()
        };
        let tables = self
            .tables
            .iter()
            .map(|(name, entries)| Json::from_iter([name.into(), table(entries)]))
            .collect();
        let deleted = self.deleted.iter().map(|one| one.iter().map(Json::from).collect()).collect();
        Json::from_iter([tables, deleted])
    }

    /// Replaces everything by what another participant encoded.
    pub(crate) fn decode(&mut self, json: &Json) -> Result<(), Malformed> {
        let [tables, deleted, ..] = array_of(json)? else { return Err(Malformed) };
        let (tables, deleted) = (array_of(tables)?, array_of(deleted)?);
        for (name, table) in core::mem::take(&mut self.tables).iter() {
            table.iter().for_each(|(key, _)| note(&mut self.changes, name, key));
        }
        for table in arrays(tables)? {
            let [name, entries, ..] = table else { return Err(Malformed) };
            for entry in arrays(array_of(entries)?)? {
                if let (Json::Text(name), Some(key)) = (name, entry.first().and_then(name_of)) {
                    self.put(name, key, entry.get(1).and_then(|value| read(name, value)));
                }
            }
        }
        self.deleted = deleted.iter().filter_map(deleted_of).collect();
        self.is_partial = false;
        Ok(())
    }

    /// Reverts an operation.
    pub(crate) fn take_back(&mut self, effect: Effect) {
        for Before { table, key, value } in effect.journal.into_iter().flatten().rev() {
            self.put(&table, &key, value);
        }
    }

    fn act(&mut self, action: &Action, stamp: &Text, at: usize, effect: &mut Effect) {
        let name = &action.name();
        let key = action.key();
        let (second, third) = (action.part(3), action.part(4));
        match action.verb().as_str() {
            Some("s") => {
                let Some(value) = second else { return };
                self.set_cell(name, key, Some(new_cell(stamp, value.clone(), third)), effect);
            }
            Some("i") => {
                let (Some(place), Some(value)) = (action.part(2), second) else { return };
                let item = Json::object([("k", place.clone()), ("v", value.clone())]);
                let id = id_at(stamp, at);
                self.set_cell(name, Some(&id), Some(new_cell(stamp, item, third)), effect);
            }
            Some("d") => {
                let cell = key.and_then(|key| self.cell(name, key));
                // Deleting a value that is deleted already has no effect, so that the first
                // deletion's stamp stays.
                if !cell.is_some_and(Cell::is_deleted) {
                    self.set_cell(name, key, Some(Json::from_iter([stamp.into()])), effect);
                }
            }
            Some("p") => self.set_fields(name, key, patch_entries(stamp, second, third), effect),
            Some("r") => self.restore(name, key, second, third, effect),
            Some("q") => {
                let entries = second.and_then(Json::as_object).into_iter().flat_map(Object::iter);
                let entries =
                    entries.map(|(field, entry)| (field.clone(), entry.clone())).collect();
                self.set_fields(name, key, entries, effect);
            }
            Some("+") => self.add(name, action.part(2), effect),
            Some("a") => self.reduce(name, action.part(2).unwrap_or(&Json::Null), stamp, effect),
            _ => {}
        }
    }

    fn set_cell(
        &mut self,
        name: &Text,
        key: Option<&Text>,
        cell: Option<Json>,
        effect: &mut Effect,
    ) {
        let Some(key) = key.filter(|key| crate::operation::is_name(key)) else { return };
        if !cell.as_ref().is_none_or(is_cell) {
            return;
        }
        let before = self.value(CELLS, name, key).cloned();
        let is_deletion = cell.as_ref().and_then(Cell::of).is_none_or(Cell::is_deleted);
        // There is no value, and none is set.
        if before.is_none() && is_deletion {
            return;
        }
        let signature = signature_of(cell.as_ref());
        self.write(&table_of(CELLS, name), key, cell, effect);
        effect.undone_by(name, "r", [key.into(), signature, before.unwrap_or_else(|| 0.into())]);
    }

    /// Brings a value back, if the last operations that changed it are still the expected ones.
    fn restore(
        &mut self,
        name: &Text,
        key: Option<&Text>,
        expected: Option<&Json>,
        cell: Option<&Json>,
        effect: &mut Effect,
    ) {
        let before = key.and_then(|key| self.value(CELLS, name, key));
        let is_expected = |expected: &&Json| {
            expected.is_within(MAX_DEPTH) && is_equal_json(expected, &signature_of(before))
        };
        if expected.filter(is_expected).is_some() {
            let cell = cell.filter(|cell| cell.as_f64() != Some(0.0));
            // A copy, so that it is another array than the one that an own undo may have from the
            // table: to write it counts as a change, as it does for all others.
            let copy =
                |cell: &Json| cell.as_array().map_or(cell.clone(), |parts| parts.to_vec().into());
            self.set_cell(name, key, cell.map(copy), effect);
        }
    }

    fn set_fields(
        &mut self,
        name: &Text,
        key: Option<&Text>,
        entries: Vec<(Text, Json)>,
        effect: &mut Effect,
    ) {
        let Some(key) = key else { return };
        let changed = self.cell(name, key).and_then(|cell| cell.with_fields(entries));
        let Some((cell, undo)) = changed else { return };
        self.write(&table_of(CELLS, name), key, Some(cell), effect);
        effect.undone_by(name, "q", [key.into(), undo.into()]);
    }

    /// Adds to a counter, if the sum is a whole number that is exact. Beyond 2^53, adding 1 would
    /// change nothing, for ever, and what was taken away again would not leave what was there
    /// before.
    fn add(&mut self, name: &Text, difference: Option<&Json>, effect: &mut Effect) {
        let before = self.only(COUNTER, name).and_then(Json::as_whole).unwrap_or(0);
        let Some(difference) = difference.and_then(Json::as_whole) else { return };
        let sum = Json::Number((before + difference) as f64);
        if sum.as_whole().is_none() {
            return;
        }
        self.write(&table_of(COUNTER, name), &"".into(), Some(sum), effect);
        effect.undone_by(name, "+", [Json::Number(-difference as f64)]);
    }

    fn reduce(&mut self, name: &Text, action: &Json, stamp: &Text, effect: &mut Effect) {
        let table = table_of(REDUCED, name);
        let Some(reducer) = self.reducers.get(name) else {
            self.is_partial = true;
            return self.write(&table, &"".into(), None, effect);
        };
        let before =
            self.only_of(&table).filter(|value| **value != Json::Null).unwrap_or(&reducer.initial);
        let inverse = reducer.invert.as_ref().and_then(|invert| invert(action, before));
        // Without a value the action is malformed. It has no effect for anybody, because all run
        // the same reducer.
        let Some(after) = (reducer.reduce)(before, action, &author_of(stamp)) else { return };
        if after.is_within(MAX_DEPTH) {
            self.write(&table, &"".into(), Some(after), effect);
            if let Some(inverse) = inverse {
                effect.undone_by(name, "a", [inverse]);
            }
        }
    }

    fn hold_one(&mut self, action: &Action, sender: u64, effect: &mut Effect) {
        let (lock, turns) = (table_of(LOCK, &action.name()), table_of(TURNS, &action.name()));
        let (nothing, participant) = ("".into(), whole(sender));
        let holder = self.only_of(&lock);
        let line = self.only_of(&turns).and_then(Json::as_array).unwrap_or_default();
        match action.verb().as_str() {
            Some("l") if holder.is_none() => self.write(&lock, &nothing, Some(participant), effect),
            Some("f") if holder == Some(&participant) => self.write(&lock, &nothing, None, effect),
            Some("j") if !line.contains(&participant) => {
                let line = line.iter().cloned().chain([participant]).collect();
                self.write(&turns, &nothing, Some(line), effect);
            }
            Some("k") => self.leave_turns(&turns, sender, effect),
            Some("n") if line.first() == Some(&participant) => {
                let line = line.iter().skip(1).cloned().chain([participant]).collect();
                self.write(&turns, &nothing, Some(line), effect);
            }
            _ => {}
        }
    }

    fn leave_turns(&mut self, table: &Text, participant: u64, effect: &mut Effect) {
        let line = self.only_of(table).and_then(Json::as_array).unwrap_or_default();
        let rest: Vec<Json> =
            line.iter().filter(|other| **other != whole(participant)).cloned().collect();
        let rest = (!rest.is_empty()).then(|| rest.into());
        self.write(table, &"".into(), rest, effect);
    }

    fn write(&mut self, table: &Text, key: &Text, value: Option<Json>, effect: &mut Effect) {
        let before = self.tables.get(table).and_then(|table| table.get(key));
        let is_same = match (before, &value) {
            (Some(before), Some(value)) => before.is_same(value),
            (before, value) => before.is_none() && value.is_none(),
        };
        if is_same {
            return;
        }
        if let Some(journal) = &mut effect.journal {
            journal.push(Before { table: table.clone(), key: key.clone(), value: before.cloned() });
        }
        if let (true, Some([Json::Text(stamp)])) =
            (is_of(CELLS, table), value.as_ref().and_then(Json::as_array))
        {
            effect.deleted.push([table, key, stamp].map(Clone::clone).into());
        }
        self.put(table, key, value);
    }

    fn put(&mut self, name: &Text, key: &Text, value: Option<Json>) {
        note(&mut self.changes, name, key);
        match (self.tables.get_mut(name), value) {
            (Some(table), Some(value)) => table.insert(key.clone(), value),
            (Some(table), None) => {
                table.remove(key);
                if table.is_empty() {
                    self.tables.remove(name);
                }
            }
            (None, Some(value)) => {
                self.tables.insert(name.clone(), [(key.clone(), value)].into_iter().collect())
            }
            (None, None) => {}
        }
    }

    fn only_of(&self, table: &Text) -> Option<&Json> {
        self.tables.get(table)?.get(&"".into())
    }

    /// The tables of locks and turns.
    fn holders(&self) -> Vec<Text> {
        let names = self.tables.iter().map(|(name, _)| name);
        names.filter(|name| is_of(LOCK, name) || is_of(TURNS, name)).cloned().collect()
    }
}

/// Notes that a key may have changed.
pub(crate) fn note(changes: &mut Changes, table: &Text, key: &Text) {
    match changes.get_mut(table) {
        Some(keys) => keys.insert(key.clone(), ()),
        None => changes.insert(table.clone(), [(key.clone(), ())].into_iter().collect()),
    }
}

fn is_of(kind: &str, table: &Text) -> bool {
    table.bytes().starts_with(kind.as_bytes())
}

fn signature_of(cell: Option<&Json>) -> Json {
    cell.and_then(Cell::of).map_or_else(|| 0.into(), Cell::signature)
}

/// The author of the operation with this stamp.
fn author_of(stamp: &Text) -> Text {
    let units: Vec<u16> = stamp.units().collect();
    let end = units.iter().rposition(|unit| *unit == u16::from(b'.')).unwrap_or(units.len());
    crate::text::of_units(units.into_iter().take(end))
}

/// What another program wrote into a table of its state; `None` if it is malformed.
fn read(table: &Text, value: &Json) -> Option<Json> {
    let is_valid = match table.bytes().first() {
        Some(b'c') => return whole_of(value),
        Some(b'm') => is_cell(value),
        Some(b'l') => value.as_count().is_some(),
        Some(b't') => {
            let line = value.as_array();
            line.is_some_and(|line| line.iter().all(|one| one.as_count().is_some()))
        }
        _ => true,
    };
    is_valid.then(|| value.clone())
}

/// The value of a counter. Earlier versions of the TypeScript package allowed fractions, and
/// numbers beyond the range in which they are exact.
fn whole_of(value: &Json) -> Option<Json> {
    // A number beyond the range of `i64` is no exact whole number either.
    let number = Json::Number(value.as_f64()? as i64 as f64);
    number.as_whole().map(|_| number)
}

/// A deletion that another program remembers.
fn deleted_of(json: &Json) -> Option<Deleted> {
    let parts: Deleted =
        json.as_array()?.iter().map(|part| part.as_text().cloned()).collect::<Option<_>>()?;
    (parts.len() == 3 && parts.first().is_some_and(|table| is_of(CELLS, table))).then_some(parts)
}

fn array_of(json: &Json) -> Result<&[Json], Malformed> {
    json.as_array().ok_or(Malformed)
}

fn arrays(items: &[Json]) -> Result<Vec<&[Json]>, Malformed> {
    items.iter().map(array_of).collect()
}
