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
    #[serde(rename = "octets")]
    pub(super) bytes: u64,
    /// Messages lost because they came faster than they were written.
    pub(super) missed: u64,
    /// True once nothing more is written.
    pub(super) is_over: bool,
    /// The error that ended the recording.
    pub(super) error: Option<String>,
}

/// Running recordings, and those that ended last, by room.
#[derive(Default)]
pub(crate) struct Recordings(Mutex<HashMap<String, Running>>);

/// A recording: its state, and a switch that stops it.
pub(super) struct Running {
    pub(super) state: watch::Receiver<State>,
    pub(super) stop: watch::Sender<bool>,
}

impl Recordings {
    /// The state of a room's recording; `None` if the room was never recorded.
    pub(super) fn state(&self, room: &str) -> Option<State> {
        self.lock().get(room).map(|running| running.state.borrow().clone())
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, HashMap<String, Running>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
