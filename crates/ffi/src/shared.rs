//! Shared data of a room: maps, lists, counters, locks and turns (docs/shared.md).

mod holders;
mod list;
mod map;

use groupwire_client::data::{self, Channels, Definitions, Json, Shared, SharedData};

use crate::error::{Code, Error};
use crate::room::Room;

/// How to open shared data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedOptions {
    /// The name of its channel and of its part of the snapshot; usually `shared`.
    pub name: String,
    /// The id of this program among the authors of operations, of at most 128 characters: no other
    /// program in the room may ever have had it. Empty for a random one.
    pub author: String,
    /// True if this program shows and sees previews, which have a channel of their own.
    pub previews: bool,
}

impl Default for SharedOptions {
    fn default() -> Self {
        SharedOptions { name: "shared".to_owned(), author: String::new(), previews: true }
    }
}

/// The state of shared data, beside its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedState {
    /// The id of this program among the authors of operations.
    pub author: String,
    /// How many own operations the room has not ordered. They are applied already.
    pub pending: u64,
    /// False if something is missing ([`Event::SharedLost`](crate::Event::SharedLost)).
    pub complete: bool,
    /// True after the server has lost the room, until the room has all of the state again.
    pub restoring: bool,
    /// True if there is an own operation to undo.
    pub can_undo: bool,
    /// True if there is an own operation to redo.
    pub can_redo: bool,
}

/// Reads JSON.
///
/// # Errors
/// [`Code::NotJson`], with the name of the argument.
pub fn json(name: &str, text: &str) -> Result<Json, Error> {
    Json::parse(text)
        .map_err(|error| Error::own(Code::NotJson, format!("{name} is no JSON: {error}")))
}

impl Room {
    /// Opens shared data, and returns its number in this room. If shared data of this name is open
    /// already, its number is returned, and the options have no effect.
    ///
    /// # Errors
    /// [`Code::TooLarge`] for the name, [`Code::TooMany`] channels or parts of the snapshot;
    /// [`Code::InvalidArgument`] for an empty name, or an author that is too long.
    pub fn shared(&self, options: &SharedOptions) -> Result<u32, Error> {
        let SharedOptions { name, author, previews } = options;
        if author.encode_utf16().count() > MAX_AUTHOR {
            return Err(Error::argument("`author`", "a text of at most 128 characters"));
        }
        if name.is_empty() {
            return Err(Error::argument("`name`", "a text of at least one character"));
        }
        let inner = self.inner()?;
        let _guard = inner.host.enter();
        // The queue stays locked, so that nobody takes an event before the data is there for it.
        let mut queue = self.queue()?;
        if let Some(open) = queue.shared_named(name) {
            return Ok(open);
        }
        let usual = data::SharedOptions::default();
        let options = data::SharedOptions {
            name: name.clone(),
            previews: usual.previews.filter(|_| *previews),
            author: (!author.is_empty()).then(|| author.clone()),
            ..usual
        };
        let opened = inner.client.shared(Definitions::new(), options)?;
        Ok(queue.share(name, opened))
    }

    /// The state of shared data.
    ///
    /// # Errors
    /// [`Code::InvalidArgument`] if the data was not opened.
    pub fn shared_state(&self, data: u32) -> Result<SharedState, Error> {
        self.read(data, |shared| SharedState {
            author: String::from(shared.author()),
            pending: shared.pending() as u64,
            complete: shared.is_complete(),
            restoring: shared.is_restoring(),
            can_undo: shared.can_undo(),
            can_redo: shared.can_redo(),
        })
    }

    /// Begins a batch: all changes up to [`Room::end_batch`] become one operation, which others see
    /// as a whole, and which is undone as a whole. Reading sees them already. Until the batch ends,
    /// the events of the room wait, so end it soon.
    ///
    /// # Errors
    /// [`Code::Busy`] if a batch is open; [`Code::InvalidArgument`] if the data was not opened.
    pub fn begin_batch(&self, data: u32) -> Result<(), Error> {
        // The queue stays locked, because another thread may be polling: it has looked for open
        // batches, and would pass an event to the data, which takes the new batch back.
        let queue = self.queue()?;
        let found = queue.shared(data)?;
        if self.inner()?.client.is_over() {
            return Err(Error::closed());
        }
        if found.lock().begin_batch() {
            return Ok(());
        }
        Err(Error::own(Code::Busy, "a batch is open: end it before another one"))
    }

    /// Ends a batch, and sends its changes. Does nothing if none is open.
    ///
    /// # Errors
    /// [`Code::NotSent`], and the changes are taken back; those of [`Room::shared_state`].
    pub fn end_batch(&self, data: u32) -> Result<(), Error> {
        let ended = self.change(data, |shared| shared.end_batch());
        if ended.is_err() && self.inner()?.client.is_over() {
            return self.abort_batch(data).and(ended);
        }
        // Events have waited for the end of the batch, also if its changes could not be sent.
        self.wake()?;
        ended
    }

    /// Ends a batch, and takes its changes back. Does nothing if none is open.
    ///
    /// # Errors
    /// Those of [`Room::shared_state`].
    pub fn abort_batch(&self, data: u32) -> Result<(), Error> {
        self.read(data, |shared| shared.abort_batch())?;
        self.wake()
    }

    /// Undoes the last own operation that others have not overwritten. Returns false if there is
    /// none.
    ///
    /// # Errors
    /// [`Code::Busy`] while a batch is open; [`Code::NotSent`]; those of [`Room::shared_state`].
    pub fn undo(&self, data: u32) -> Result<bool, Error> {
        self.check_batch(data)?;
        self.change(data, |shared| shared.undo())
    }

    /// Does again what [`Room::undo`] has undone. Returns false if there is nothing.
    ///
    /// # Errors
    /// Those of [`Room::undo`].
    pub fn redo(&self, data: u32) -> Result<bool, Error> {
        self.check_batch(data)?;
        self.change(data, |shared| shared.redo())
    }

    fn check_batch(&self, data: u32) -> Result<(), Error> {
        if self.read(data, |shared| shared.is_batch())? {
            return Err(Error::own(Code::Busy, "a batch is open: end it before undo and redo"));
        }
        Ok(())
    }

    fn read<T>(&self, data: u32, read: impl FnOnce(&mut View) -> T) -> Result<T, Error> {
        Ok(read(&mut self.find_shared(data)?.lock()))
    }

    fn change<T>(
        &self,
        data: u32,
        change: impl FnOnce(&mut View) -> Result<T, data::Error<groupwire_client::Error>>,
    ) -> Result<T, Error> {
        let found = self.find_shared(data)?;
        if self.inner()?.client.is_over() {
            return Err(Error::closed());
        }
        let changed = change(&mut found.lock())?;
        self.wake()?;
        Ok(changed)
    }

    /// Wakes the part of the program that waits for events.
    fn wake(&self) -> Result<(), Error> {
        self.queue()?.readiness().wake();
        Ok(())
    }

    fn find_shared(&self, data: u32) -> Result<SharedData, Error> {
        self.queue()?.shared(data)
    }
}

/// The data as the functions here use it.
type View = Shared<Channels>;

/// The longest id of an author, in UTF-16 units (docs/shared.md).
const MAX_AUTHOR: usize = 128;

#[cfg(test)]
mod tests;
