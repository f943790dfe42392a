//! Locks and turns. They are never optimistic.

use alloc::vec::Vec;

use crate::error::Error;
use crate::json::Json;
use crate::link::Link;
use crate::operation::Action;
use crate::shared::Shared;
use crate::tables::{LOCK, TURNS};
use crate::text::Text;

/// A lock: the first one to acquire it, in the room's order, holds it until it releases it or
/// leaves for good.
pub struct Lock<'a, L> {
    pub(super) data: &'a mut Shared<L>,
    pub(super) name: Text,
}

impl<L: Link> Lock<'_, L> {
    /// The participant that holds it.
    pub fn holder(&mut self) -> Option<u64> {
        self.data.tables().only(LOCK, &self.name)?.as_count()
    }

    /// True if this participant holds it.
    pub fn is_mine(&mut self) -> bool {
        let holder = self.holder();
        holder.is_some() && holder == self.data.me()
    }

    /// Asks for the lock. If somebody else holds it, that has no effect.
    ///
    /// # Errors
    /// The operation cannot be sent.
    pub fn acquire(&mut self) -> Result<(), Error<L::Error>> {
        self.data.perform(Action::new(&self.name, "l", []))
    }

    /// Releases the lock, if this participant holds it.
    ///
    /// # Errors
    /// The operation cannot be sent.
    pub fn release(&mut self) -> Result<(), Error<L::Error>> {
        self.data.perform(Action::new(&self.name, "f", []))
    }
}

/// Turns: a queue of participants; the first one has the turn.
pub struct Turns<'a, L> {
    pub(super) data: &'a mut Shared<L>,
    pub(super) name: Text,
}

impl<L: Link> Turns<'_, L> {
    /// The participants, in the order of their turns.
    pub fn participants(&mut self) -> Vec<u64> {
        let line = self.data.tables().only(TURNS, &self.name).and_then(Json::as_array);
        line.unwrap_or_default().iter().filter_map(Json::as_count).collect()
    }

    /// The participant whose turn it is.
    pub fn current(&mut self) -> Option<u64> {
        self.participants().first().copied()
    }

    /// True if it is this participant's turn.
    pub fn is_mine(&mut self) -> bool {
        let current = self.current();
        current.is_some() && current == self.data.me()
    }

    /// Appends this participant to the queue.
    ///
    /// # Errors
    /// The operation cannot be sent.
    pub fn join(&mut self) -> Result<(), Error<L::Error>> {
        self.data.perform(Action::new(&self.name, "j", []))
    }

    /// Takes this participant out of the queue.
    ///
    /// # Errors
    /// The operation cannot be sent.
    pub fn leave(&mut self) -> Result<(), Error<L::Error>> {
        self.data.perform(Action::new(&self.name, "k", []))
    }

    /// Ends this participant's turn.
    ///
    /// # Errors
    /// The operation cannot be sent.
    pub fn end_turn(&mut self) -> Result<(), Error<L::Error>> {
        self.data.perform(Action::new(&self.name, "n", []))
    }
}
