//! The kinds of shared data, as an application uses them.

mod holders;
mod list;
mod map;
mod values;

pub use holders::{Lock, Turns};
pub use list::List;
pub use map::Map;
pub use values::{Counter, Reduced};

use crate::link::Link;
use crate::shared::Shared;
use crate::text::Text;

impl<L: Link> Shared<L> {
    /// A map from keys to values. The last operation on a key, or on a field of its value, counts.
    pub fn map(&mut self, name: &str) -> Map<'_, L> {
        Map { data: self, name: name.into() }
    }

    /// A list. Items keep their id when they are moved or changed.
    pub fn list(&mut self, name: &str) -> List<'_, L> {
        List { data: self, name: name.into() }
    }

    /// A whole number to which everybody adds.
    pub fn counter(&mut self, name: &str) -> Counter<'_, L> {
        Counter { data: self, name: name.into() }
    }

    /// A value that a reducer makes of actions, in the room's order. The program needs the reducer
    /// of this name ([`Definitions::reducer`](crate::Definitions::reducer)).
    pub fn reduced(&mut self, name: &str) -> Reduced<'_, L> {
        Reduced { data: self, name: name.into() }
    }

    /// A lock. It has its holder only once the room has ordered the operation.
    pub fn lock(&mut self, name: &str) -> Lock<'_, L> {
        Lock { data: self, name: name.into() }
    }

    /// Turns: a queue of participants; the first one has the turn.
    pub fn turns(&mut self, name: &str) -> Turns<'_, L> {
        Turns { data: self, name: name.into() }
    }
}

/// The key of a value, checked.
fn checked_key<E>(key: &str) -> Result<Text, crate::Error<E>> {
    let key = Text::from(key);
    if crate::operation::is_name(&key) { Ok(key) } else { Err(crate::Error::Key) }
}
