//! Lists of shared data. Items are named by the ids that inserting returns.

use groupwire_client::data::{Json, Text};

use crate::error::Error;
use crate::room::Room;

impl Room {
    /// The items in their order, as an array.
    ///
    /// # Errors
    /// Those of [`Room::map_get`].
    pub fn list_values(&self, data: u32, list: &str) -> Result<Json, Error> {
        self.read(data, |shared| shared.list(list).values().into())
    }

    /// The ids of the items, in the same order.
    ///
    /// # Errors
    /// Those of [`Room::map_get`].
    pub fn list_ids(&self, data: u32, list: &str) -> Result<Vec<String>, Error> {
        self.read(data, |shared| shared.list(list).ids().iter().map(String::from).collect())
    }

    /// The item with this id; `None` if there is none.
    ///
    /// # Errors
    /// Those of [`Room::map_get`].
    pub fn list_get(&self, data: u32, list: &str, id: &str) -> Result<Option<Json>, Error> {
        self.read(data, |shared| shared.list(list).get(&id.into()))
    }

    /// Inserts an item before the one at `index`, or at the end, and returns its id.
    ///
    /// # Errors
    /// Those of [`Room::map_set`].
    pub fn list_insert(
        &self,
        data: u32,
        list: &str,
        index: usize,
        value: Json,
    ) -> Result<String, Error> {
        let inserted = self.change(data, |shared| shared.list(list).insert(index, value));
        inserted.map(|id| String::from(&id))
    }

    /// Replaces the item with this id. Does nothing if there is none.
    ///
    /// # Errors
    /// Those of [`Room::map_set`].
    pub fn list_set(&self, data: u32, list: &str, id: &str, value: Json) -> Result<(), Error> {
        self.change(data, |shared| shared.list(list).set(&Text::from(id), value))
    }

    /// Moves an item, so that it has this index afterwards, or is the last one. Does nothing if
    /// there is none with this id.
    ///
    /// # Errors
    /// Those of [`Room::map_set`].
    pub fn list_move(&self, data: u32, list: &str, id: &str, index: usize) -> Result<(), Error> {
        self.change(data, |shared| shared.list(list).move_to(&id.into(), index))
    }

    /// Removes the item with this id.
    ///
    /// # Errors
    /// Those of [`Room::map_set`].
    pub fn list_delete(&self, data: u32, list: &str, id: &str) -> Result<(), Error> {
        self.change(data, |shared| shared.list(list).delete(&id.into()))
    }
}
