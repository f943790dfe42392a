//! Counters, and data with a reducer of the application: one value for each name.

use crate::error::Error;
use crate::json::{Json, MAX_SAFE};
use crate::link::Link;
use crate::operation::Action;
use crate::shared::{Shared, check_json};
use crate::tables::{COUNTER, REDUCED};
use crate::text::Text;

/// A whole number to which everybody adds. It is always between -2^53 and 2^53, where all whole
/// numbers are exact in JavaScript, too.
pub struct Counter<'a, L> {
    pub(super) data: &'a mut Shared<L>,
    pub(super) name: Text,
}

impl<L: Link> Counter<'_, L> {
    /// The number, which begins at 0.
    pub fn value(&mut self) -> i64 {
        self.data.tables().only(COUNTER, &self.name).and_then(Json::as_whole).unwrap_or(0)
    }

    /// Adds a number, or subtracts it if it is negative. Has no effect if the sum would be outside
    /// of the counter's range.
    ///
    /// # Errors
    /// A difference outside of the counter's range; the operation cannot be sent.
    pub fn add(&mut self, difference: i64) -> Result<(), Error<L::Error>> {
        if difference.unsigned_abs() > MAX_SAFE {
            return Err(Error::Difference);
        }
        self.data.perform(Action::new(&self.name, "+", [Json::Number(difference as f64)]))
    }
}

/// A value that a reducer makes of actions, in the room's order.
pub struct Reduced<'a, L> {
    pub(super) data: &'a mut Shared<L>,
    pub(super) name: Text,
}

impl<L: Link> Reduced<'_, L> {
    /// The value; `null` if this program lacks the reducer.
    pub fn value(&mut self) -> Json {
        let tables = self.data.tables();
        let initial = tables.reducer(&self.name).map_or(&Json::Null, |reducer| &reducer.initial);
        let value = tables.only(REDUCED, &self.name).filter(|value| **value != Json::Null);
        value.unwrap_or(initial).clone()
    }

    /// Gives the reducer an action.
    ///
    /// # Errors
    /// An action that JSON does not carry; the operation cannot be sent.
    pub fn dispatch(&mut self, action: impl Into<Json>) -> Result<(), Error<L::Error>> {
        let action = action.into();
        check_json(&self.name, &action)?;
        self.data.perform(Action::new(&self.name, "a", [action]))
    }
}
