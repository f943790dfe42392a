//! Maps of shared data.

use groupwire_client::data::{Json, Object};

use crate::error::Error;
use crate::room::Room;

impl Room {
    /// The value of a key; `None` if there is none.
    ///
    /// # Errors
    /// [`Code::InvalidArgument`](crate::Code) if the data was not opened. All functions for shared
    /// data can fail with it.
    pub fn map_get(&self, data: u32, map: &str, key: &str) -> Result<Option<Json>, Error> {
        self.read(data, |shared| shared.map(map).get(key))
    }

    /// All keys and values, as an object. Their order means nothing.
    ///
    /// # Errors
    /// Those of [`Room::map_get`].
    pub fn map_entries(&self, data: u32, map: &str) -> Result<Json, Error> {
        self.read(data, |shared| shared.map(map).entries().into_iter().collect::<Object>().into())
    }

    /// Sets the value of a key.
    ///
    /// # Errors
    /// [`Code::BadName`](crate::Code), `BadKey`, `NotJson`, `BadArgument`, `NotSent`, and `Closed`
    /// after the room has ended. After an error nothing has changed. All functions that change
    /// shared data can fail with these codes.
    pub fn map_set(&self, data: u32, map: &str, key: &str, value: Json) -> Result<(), Error> {
        self.change(data, |shared| shared.map(map).set(key, value))
    }

    /// Sets fields of a value that is an object, and removes others. Does nothing if there is no
    /// such value.
    ///
    /// # Errors
    /// Those of [`Room::map_set`]; `BadArgument` if `fields` is no object.
    pub fn map_patch(
        &self,
        data: u32,
        map: &str,
        key: &str,
        fields: Json,
        removed: &[&str],
    ) -> Result<(), Error> {
        self.change(data, |shared| shared.map(map).patch(key, fields, removed))
    }

    /// Removes a key and its value.
    ///
    /// # Errors
    /// Those of [`Room::map_set`].
    pub fn map_delete(&self, data: u32, map: &str, key: &str) -> Result<(), Error> {
        self.change(data, |shared| shared.map(map).delete(key))
    }

    /// Shows others an unfinished change of a value's fields, without an operation; `None` ends it.
    /// It may be lost.
    ///
    /// # Errors
    /// Those of [`Room::map_set`]; `BadArgument` if `fields` is no object.
    pub fn map_preview(
        &self,
        data: u32,
        map: &str,
        key: &str,
        fields: Option<Json>,
    ) -> Result<(), Error> {
        self.change(data, |shared| shared.map(map).preview(key, fields))
    }

    /// The value of a key with the previews of others applied.
    ///
    /// # Errors
    /// Those of [`Room::map_get`].
    pub fn map_previewed(&self, data: u32, map: &str, key: &str) -> Result<Option<Json>, Error> {
        self.read(data, |shared| shared.map(map).previewed(key))
    }
}
