//! The rooms that inspectors show. An inspector receives reports of the packets and participants of
//! one room.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::body::Bytes;
use tokio::sync::broadcast::{self, Receiver, Sender};

/// Reports that may wait for an inspector; an inspector that reads more slowly misses some.
const MAX_QUEUED: usize = 8;

/// Most inspectors at the same time, in all rooms together.
const MAX_INSPECTORS: usize = 32;

/// The rooms that inspectors show, each with the sender of its reports.
#[derive(Default)]
pub(crate) struct ReportStreams(Mutex<HashMap<String, Sender<Bytes>>>);

impl ReportStreams {
    /// Adds an inspector of a room; `None` if there are too many. The sender is returned if no task
    /// makes reports of this room yet.
    pub(super) fn join(&self, room: &str) -> Option<(Receiver<Bytes>, Option<Sender<Bytes>>)> {
        let mut streams = self.lock();
        if streams.values().map(Sender::receiver_count).sum::<usize>() >= MAX_INSPECTORS {
            return None;
        }
        if let Some(sender) = streams.get(room) {
            return Some((sender.subscribe(), None));
        }
        let (sender, receiver) = broadcast::channel(MAX_QUEUED);
        streams.insert(room.to_owned(), sender.clone());
        Some((receiver, Some(sender)))
    }

    /// Removes a room. Returns false and keeps it if it has an inspector, unless the room itself is
    /// closed (`is_gone`).
    pub(super) fn leave(&self, room: &str, is_gone: bool) -> bool {
        let mut streams = self.lock();
        if !is_gone && streams.get(room).is_some_and(|sender| sender.receiver_count() > 0) {
            return false;
        }
        streams.remove(room);
        true
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Sender<Bytes>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
