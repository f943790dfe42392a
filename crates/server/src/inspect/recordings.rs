//! The state of recordings, by room.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use tokio::sync::watch;

/// The state of a recording, running or ended.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct State {
    /// Name of the file in the folder of recordings.
    pub(super) file: String,
    pub(super) messages: u64,
    pub(super) bytes: u64,
    /// Messages lost because they came faster than they were written.
    pub(super) missed: u64,
    /// True if the recording has ended and its file is complete.
    pub(super) is_over: bool,
    /// The error that ended the recording.
    pub(super) error: Option<String>,
}

/// The recordings by room: those that run, and those that ended since a recording was last started.
#[derive(Default)]
pub(crate) struct Recordings(Mutex<HashMap<String, Running>>);

/// A recording: its state, and a switch that stops it.
pub(super) struct Running {
    pub(super) state: watch::Receiver<State>,
    pub(super) stop: watch::Sender<bool>,
}

impl Recordings {
    /// The state of a room's recording; `None` if the room has none, or if it ended and another
    /// recording was started since.
    pub(super) fn state(&self, room: &str) -> Option<State> {
        self.lock().get(room).map(|running| running.state.borrow().clone())
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, HashMap<String, Running>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
