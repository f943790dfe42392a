//! Counters, locks and turns of shared data.

use crate::error::Error;
use crate::room::Room;

impl Room {
    /// The value of a counter, which begins at 0.
    ///
    /// # Errors
    /// Those of [`Room::map_get`].
    pub fn counter_value(&self, data: u32, counter: &str) -> Result<i64, Error> {
        self.read(data, |shared| shared.counter(counter).value())
    }

    /// Adds a whole number, or subtracts it if it is negative. Has no effect if the sum would be
    /// beyond 2^53.
    ///
    /// # Errors
    /// Those of [`Room::map_set`]; `BadArgument` for a number beyond 2^53.
    pub fn counter_add(&self, data: u32, counter: &str, difference: i64) -> Result<(), Error> {
        self.change(data, |shared| shared.counter(counter).add(difference))
    }

    /// The participant that holds a lock.
    ///
    /// # Errors
    /// Those of [`Room::map_get`].
    pub fn lock_holder(&self, data: u32, lock: &str) -> Result<Option<u32>, Error> {
        let holder = self.read(data, |shared| shared.lock(lock).holder())?;
        Ok(holder.and_then(|holder| u32::try_from(holder).ok()))
    }

    /// Asks for a lock. If somebody else holds it, that has no effect. This participant holds it
    /// once the room has ordered that, as [`Room::lock_holder`] tells.
    ///
    /// # Errors
    /// Those of [`Room::map_set`].
    pub fn lock_acquire(&self, data: u32, lock: &str) -> Result<(), Error> {
        self.change(data, |shared| shared.lock(lock).acquire())
    }

    /// Releases a lock, if this participant holds it.
    ///
    /// # Errors
    /// Those of [`Room::map_set`].
    pub fn lock_release(&self, data: u32, lock: &str) -> Result<(), Error> {
        self.change(data, |shared| shared.lock(lock).release())
    }

    /// The participants in the order of their turns: it is the first one's turn.
    ///
    /// # Errors
    /// Those of [`Room::map_get`].
    pub fn turns_participants(&self, data: u32, turns: &str) -> Result<Vec<u32>, Error> {
        let all = self.read(data, |shared| shared.turns(turns).participants())?;
        Ok(all.into_iter().filter_map(|one| u32::try_from(one).ok()).collect())
    }

    /// Adds this participant at the end of the order of turns.
    ///
    /// # Errors
    /// Those of [`Room::map_set`].
    pub fn turns_join(&self, data: u32, turns: &str) -> Result<(), Error> {
        self.change(data, |shared| shared.turns(turns).join())
    }

    /// Removes this participant from the order of turns.
    ///
    /// # Errors
    /// Those of [`Room::map_set`].
    pub fn turns_leave(&self, data: u32, turns: &str) -> Result<(), Error> {
        self.change(data, |shared| shared.turns(turns).leave())
    }

    /// Ends this participant's turn.
    ///
    /// # Errors
    /// Those of [`Room::map_set`].
    pub fn turns_next(&self, data: u32, turns: &str) -> Result<(), Error> {
        self.change(data, |shared| shared.turns(turns).end_turn())
    }
}
