//! Lists.

use alloc::string::String;
use alloc::vec::Vec;

use crate::between::{between, order_of};
use crate::cell::Cell;
use crate::error::Error;
use crate::json::{Json, whole};
use crate::link::Link;
use crate::operation::Action;
use crate::schema::{self, Fault};
use crate::shared::{Shared, check_json};
use crate::text::Text;

/// A longer order (characters) counts as no room: 360 items, each of them added between the last
/// two, have shorter ones.
const LONG: usize = 100;

/// The longest new order of items that left no room: as many further items fit between them until
/// there is none again.
const ROOMY: usize = 50;

/// A list. Items keep their id when they are moved or changed.
pub struct List<'a, L> {
    pub(super) data: &'a mut Shared<L>,
    pub(super) name: Text,
}

/// An item that fits the schema.
struct Item {
    id: Text,
    order: String,
    value: Json,
}

impl<L: Link> List<'_, L> {
    /// The items, in their order.
    pub fn values(&mut self) -> Vec<Json> {
        self.items().into_iter().map(|item| item.value).collect()
    }

    /// The ids of the items, in their order.
    pub fn ids(&mut self) -> Vec<Text> {
        self.items().into_iter().map(|item| item.id).collect()
    }

    /// The item with this id; `None` if there is none, or if it does not fit the schema.
    pub fn get(&mut self, id: &Text) -> Option<Json> {
        self.read(id)?.ok()
    }

    /// Why the item with this id is hidden from this program; `None` if it is not.
    pub fn fault(&mut self, id: &Text) -> Option<Fault> {
        self.read(id)?.err()
    }

    /// Inserts an item before the one at `index`, or at the end, and returns its id.
    ///
    /// # Errors
    /// A value that JSON does not carry or that does not fit the schema; the operation cannot be
    /// sent.
    pub fn insert(
        &mut self,
        index: usize,
        value: impl Into<Json>,
    ) -> Result<Text, Error<L::Error>> {
        let value = value.into();
        self.check(&value)?;
        let name = self.name.clone();
        self.data.batch(|data| {
            let mut list = List { data, name };
            let items = list.items();
            let order = list.order_at(&items, index)?;
            let id = list.data.replica.next_id();
            let version = list.version_mark();
            let rest = [order.into(), value].into_iter().chain(version);
            list.data.perform(Action::new(&list.name, "i", rest))?;
            Ok(id)
        })
    }

    /// Adds an item at the end, and returns its id.
    ///
    /// # Errors
    /// Those of [`insert`](Self::insert).
    pub fn push(&mut self, value: impl Into<Json>) -> Result<Text, Error<L::Error>> {
        self.insert(usize::MAX, value)
    }

    /// Replaces the item with this id. Does nothing if there is none.
    ///
    /// # Errors
    /// Those of [`insert`](Self::insert).
    pub fn set(&mut self, id: &Text, value: impl Into<Json>) -> Result<(), Error<L::Error>> {
        let value = value.into();
        let Some(cell) = self.data.tables().cell(&self.name, id) else { return Ok(()) };
        let Some((place, _)) = cell.value().and_then(item_of) else { return Ok(()) };
        let (place, version) = (order_text(place), cell.version());
        self.check(&value)?;
        if version == schema::version_of(self.data.schemas.get(&self.name)) {
            return self.act("p", id, [Json::object([("v", value)])]);
        }
        let item = Json::object([("k", place.into()), ("v", value)]);
        let version = self.version_mark();
        self.act("s", id, [item].into_iter().chain(version))
    }

    /// Moves an item, so that it has this index afterwards. Does nothing if there is none.
    ///
    /// # Errors
    /// The operation cannot be sent.
    pub fn move_to(&mut self, id: &Text, index: usize) -> Result<(), Error<L::Error>> {
        let items = self.items();
        let (own, others): (Vec<_>, Vec<_>) = items.into_iter().partition(|item| item.id == *id);
        if own.is_empty() {
            return Ok(());
        }
        let (name, id) = (self.name.clone(), id.clone());
        self.data.batch(|data| {
            let mut list = List { data, name };
            let order = list.order_at(&others, index)?;
            list.act("p", &id, [Json::object([("k", order.into())])])
        })
    }

    /// Removes the item with this id.
    ///
    /// # Errors
    /// The operation cannot be sent.
    pub fn delete(&mut self, id: &Text) -> Result<(), Error<L::Error>> {
        let cell = self.data.tables().cell(&self.name, id);
        if cell.is_none_or(Cell::is_deleted) {
            return Ok(());
        }
        self.act("d", id, [])
    }

    fn read(&mut self, id: &Text) -> Option<Result<Json, Fault>> {
        self.data.tables();
        let cell = self.data.replica.tables.cell(&self.name, id)?;
        let (_, value) = item_of(cell.value()?)?;
        Some(schema::read(self.data.schemas.get(&self.name), value, cell.version()))
    }

    /// The items that fit the schema. Within a batch they include what the batch has written.
    fn items(&mut self) -> Vec<Item> {
        self.data.tables();
        let (tables, schema) = (&self.data.replica.tables, self.data.schemas.get(&self.name));
        let item = |(id, cell): (&Text, Cell<'_>)| {
            let (place, value) = item_of(cell.value()?)?;
            let value = schema::read(schema, value, cell.version()).ok()?;
            Some(Item { id: id.clone(), order: order_text(place), value })
        };
        let mut items: Vec<Item> = tables.cells(&self.name).filter_map(item).collect();
        items.sort_by(|one, other| {
            one.order.cmp(&other.order).then_with(|| one.id.cmp_units(&other.id))
        });
        items
    }

    /// The order of an item before the one at an index. If the orders around this place leave no
    /// room, which others may have made up, the items there get other ones.
    fn order_at(&mut self, items: &[Item], index: usize) -> Result<String, Error<L::Error>> {
        let at = index.min(items.len());
        let mut around = 0;
        loop {
            let (first, last) = (at.saturating_sub(around), (at + around).min(items.len()));
            let low = first
                .checked_sub(1)
                .and_then(|before| items.get(before))
                .map(|item| item.order.as_str());
            // Two participants that insert at one place at the same time may choose the same order:
            // then the item comes after both.
            let behind = items.iter().skip(last).map(|item| item.order.as_str());
            let high = behind.into_iter().find(|order| low.is_none_or(|low| *order > low));
            let longest = if around > 0 { ROOMY } else { LONG };
            let Some(mut orders) = orders_between(low, high, last - first + 1, longest) else {
                around = (around * 2).max(1);
                continue;
            };
            let order = orders.remove(at - first);
            for (item, order) in items.iter().skip(first).zip(orders) {
                self.act("p", &item.id, [Json::object([("k", order.into())])])?;
            }
            return Ok(order);
        }
    }

    fn act(
        &mut self,
        verb: &str,
        id: &Text,
        rest: impl IntoIterator<Item = Json>,
    ) -> Result<(), Error<L::Error>> {
        if id.as_str().is_none() {
            return Err(Error::Key);
        }
        let rest = [Json::from(id)].into_iter().chain(rest);
        self.data.perform(Action::new(&self.name, verb, rest))
    }

    /// The last part of an action: the version of this program's schema, left out if it is 1.
    fn version_mark(&self) -> Option<Json> {
        let version = schema::version_of(self.data.schemas.get(&self.name));
        (version > 1).then(|| whole(version))
    }

    fn check(&self, value: &Json) -> Result<(), Error<L::Error>> {
        check_json(&self.name, value)?;
        schema::check(self.data.schemas.get(&self.name), value)
            .map_err(|why| Error::Schema { name: (&self.name).into(), why })
    }
}

/// Ascending orders of items; `None` if there is no room for them.
fn orders_between(
    low: Option<&str>,
    high: Option<&str>,
    count: usize,
    most: usize,
) -> Option<Vec<String>> {
    let mut orders: Vec<String> = Vec::new();
    while orders.len() < count {
        let order = between(orders.last().map(String::as_str).or(low), high);
        if order.len() > most {
            return None;
        }
        orders.push(order);
    }
    Some(orders)
}

/// The place and the value of an item.
fn item_of(value: &Json) -> Option<(&Text, &Json)> {
    Some((value.get("k")?.as_text()?, value.get("v").unwrap_or(&Json::Null)))
}

/// The place as lists are sorted by it. It has digits alone.
fn order_text(place: &Text) -> String {
    order_of(&place.to_string_lossy()).into()
}
