//! Maps.

use alloc::vec::Vec;

use super::checked_key;
use crate::cell::Cell;
use crate::error::Error;
use crate::json::{Json, Object, whole};
use crate::link::Link;
use crate::operation::Action;
use crate::previews::with;
use crate::schema::{self, Fault};
use crate::shared::{Shared, check_json};
use crate::text::Text;

/// A map from keys to values. The last operation on a key, or on a field of its value, counts.
pub struct Map<'a, L> {
    pub(super) data: &'a mut Shared<L>,
    pub(super) name: Text,
}

impl<L: Link> Map<'_, L> {
    /// The value of a key; `None` if there is none, or if it does not fit the schema.
    pub fn get(&mut self, key: &str) -> Option<Json> {
        self.read(key)?.ok()
    }

    /// Why the value of a key is hidden from this program; `None` if it is not.
    pub fn fault(&mut self, key: &str) -> Option<Fault> {
        self.read(key)?.err()
    }

    /// The keys and values that fit the schema. Their order means nothing.
    pub fn entries(&mut self) -> Vec<(Text, Json)> {
        self.data.tables();
        let (tables, schema) = (&self.data.replica.tables, self.data.schemas.get(&self.name));
        let read = |(key, cell): (&Text, Cell<'_>)| {
            Some((key.clone(), schema::read(schema, cell.value()?, cell.version()).ok()?))
        };
        tables.cells(&self.name).filter_map(read).collect()
    }

    /// Sets the value of a key.
    ///
    /// # Errors
    /// A key that is too long; a value that JSON does not carry or that does not fit the schema;
    /// the operation cannot be sent.
    pub fn set(&mut self, key: &str, value: impl Into<Json>) -> Result<(), Error<L::Error>> {
        let (key, value) = (checked_key(key)?, value.into());
        check_json(&self.name, &value)?;
        self.check(&value)?;
        self.set_whole(key, value)
    }

    /// Sets fields of a value that is an object, and removes others. Does nothing if there is no
    /// such value.
    ///
    /// # Errors
    /// Fields that are no object; those of [`set`](Self::set).
    pub fn patch(
        &mut self,
        key: &str,
        fields: impl Into<Json>,
        removed: &[&str],
    ) -> Result<(), Error<L::Error>> {
        let (key, fields) = (checked_key(key)?, fields.into());
        let Json::Object(set) = &fields else {
            return Err(Error::Fields { name: (&self.name).into() });
        };
        check_json(&self.name, &fields)?;
        let Some(cell) = self.data.tables().cell(&self.name, &key) else { return Ok(()) };
        let Some(value @ Json::Object(_)) = cell.value().cloned() else { return Ok(()) };
        let version = cell.version();
        let schema = self.data.schemas.get(&self.name);
        let is_old = version < schema::version_of(schema);
        let upgraded = is_old.then(|| schema::read(schema, &value, version).ok()).flatten();
        let upgraded = upgraded.filter(|upgraded| upgraded.as_object().is_some());
        let before = upgraded.as_ref().unwrap_or(&value).as_object().cloned().unwrap_or_default();
        let after = with(&before, set)
            .iter()
            .filter(|(name, _)| !removed.iter().any(|removed| name == removed))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect::<Object>();
        let after = Json::from(after);
        self.check(&after)?;
        // A patch of a value of an older version writes the whole value in this version.
        if upgraded.is_some() {
            return self.set_whole(key, after);
        }
        let gone =
            (!removed.is_empty()).then(|| removed.iter().map(|name| Json::from(*name)).collect());
        let rest = [key.into(), fields].into_iter().chain(gone);
        self.data.perform(Action::new(&self.name, "p", rest))
    }

    /// Removes a key and its value.
    ///
    /// # Errors
    /// The operation cannot be sent.
    pub fn delete(&mut self, key: &str) -> Result<(), Error<L::Error>> {
        let key = Text::from(key);
        let cell = self.data.tables().cell(&self.name, &key);
        if cell.is_none_or(Cell::is_deleted) {
            return Ok(());
        }
        self.data.perform(Action::new(&self.name, "d", [key.into()]))
    }

    /// Shows others an unfinished change, such as a drag. The preview ends with this program's next
    /// operation on the key; `None` ends it without one. It may be lost.
    ///
    /// # Errors
    /// A key that is too long; fields that are no object, or that JSON does not carry.
    pub fn preview(&mut self, key: &str, fields: Option<Json>) -> Result<(), Error<L::Error>> {
        let key = checked_key(key)?;
        let Some(fields) = fields else {
            self.data.preview(&self.name, &key, None);
            return Ok(());
        };
        check_json(&self.name, &fields)?;
        let Json::Object(fields) = &fields else {
            return Err(Error::Fields { name: (&self.name).into() });
        };
        self.data.preview(&self.name, &key, Some(fields));
        Ok(())
    }

    /// The value with the previews of other participants applied to [`get`](Self::get).
    pub fn previewed(&mut self, key: &str) -> Option<Json> {
        let id = Text::from(key);
        let cell = self.data.tables().cell(&self.name, &id)?;
        let (value, version) = (cell.value()?.clone(), cell.version());
        let shown = self.data.previews.apply(&self.name, &id, &value);
        let shown = shown.and_then(|shown| {
            schema::read(self.data.schemas.get(&self.name), &shown, version).ok()
        });
        shown.or_else(|| self.get(key))
    }

    fn read(&mut self, key: &str) -> Option<Result<Json, Fault>> {
        self.data.tables();
        let cell = self.data.replica.tables.cell(&self.name, &key.into())?;
        Some(schema::read(self.data.schemas.get(&self.name), cell.value()?, cell.version()))
    }

    fn set_whole(&mut self, key: Text, value: Json) -> Result<(), Error<L::Error>> {
        let version = schema::version_of(self.data.schemas.get(&self.name));
        let version = (version > 1).then(|| whole(version));
        let rest = [key.into(), value].into_iter().chain(version);
        self.data.perform(Action::new(&self.name, "s", rest))
    }

    fn check(&self, value: &Json) -> Result<(), Error<L::Error>> {
        schema::check(self.data.schemas.get(&self.name), value)
            .map_err(|why| Error::Schema { name: (&self.name).into(), why })
    }
}
