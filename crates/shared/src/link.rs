//! What shared data needs of its room and of its application.

use alloc::collections::BTreeMap;

use crate::reducer::Reducer;
use crate::schema::Schema;
use crate::text::Text;

/// Where shared data sends its messages: two channels of a room, one of transactions that records
/// departures, and one of awareness.
pub trait Link {
    /// Why a message cannot be sent at all.
    type Error;

    /// Sends a transaction.
    ///
    /// # Errors
    /// It can never be sent, for example because this participant may not publish.
    fn send(&mut self, operation: &str) -> Result<Taken, Self::Error>;

    /// Sends awareness with a key, or drops it.
    fn preview(&mut self, key: &str, text: &str);
}

/// Whether a room has taken a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// The room will send the transaction.
    Yes,
    /// Too much is waiting: it is offered again after [`Input::Drain`](crate::Input::Drain).
    NotNow,
}

/// What a program knows of shared data beforehand: its reducers and schemas. Maps, lists, counters,
/// locks and turns need none.
#[derive(Debug, Default)]
pub struct Definitions {
    pub(crate) reducers: BTreeMap<Text, Reducer>,
    pub(crate) schemas: BTreeMap<Text, Schema>,
}

impl Definitions {
    /// No reducers and no schemas.
    pub fn new() -> Self {
        Definitions::default()
    }

    /// Adds the reducer of a name.
    #[must_use]
    pub fn reducer(mut self, name: &str, reducer: Reducer) -> Self {
        self.reducers.insert(name.into(), reducer);
        self
    }

    /// Adds the schema of a map's values or a list's items.
    #[must_use]
    pub fn schema(mut self, name: &str, schema: Schema) -> Self {
        self.schemas.insert(name.into(), schema);
        self
    }
}
