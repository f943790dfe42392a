//! All open documents, by name.

use std::num::NonZero;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Semaphore;
use tokio::sync::mpsc::UnboundedReceiver;

use super::config::YjsLimits;
use super::figures::{Counters, DocumentFigures};
use super::message::Message;
use crate::rooms::directory::Directory;
use crate::tools::open_table::OpenTable;

/// The documents of a server.
pub(crate) struct Documents {
    /// The rooms of the same names.
    pub(super) rooms: Arc<Directory>,
    pub(super) limits: YjsLimits,
    pub(super) counters: Arc<Counters>,
    /// The tasks of open documents, by their names.
    open: Mutex<OpenTable<Message>>,
    pub(super) last_connection: AtomicU64,
    /// Permits for merging and comparing large documents: at most one at a time per processor, so
    /// that rooms do not wait for them.
    pub(super) large: Semaphore,
}

impl Documents {
    pub(crate) fn new(limits: &YjsLimits, rooms: Arc<Directory>) -> Self {
        Documents {
            rooms,
            limits: limits.within_reach(),
            counters: Arc::default(),
            open: Mutex::default(),
            last_connection: AtomicU64::new(0),
            large: Semaphore::new(std::thread::available_parallelism().map_or(1, NonZero::get)),
        }
    }

    /// What was counted since the start of the server, and what is open now.
    pub(crate) fn figures(&self) -> DocumentFigures {
        let open = self.lock().len();
        self.counters.figures(open)
    }

    /// The most bytes of a message.
    pub(super) fn message_limit(&self) -> usize {
        self.limits.message_bytes
    }

    /// Closes all connections.
    pub(crate) fn shut_down(&self) {
        for document in self.lock().tasks() {
            let _ = document.send(Message::Shutdown);
        }
    }

    /// Removes a document, unless a message for it is waiting. Returns true if it was removed.
    pub(super) fn close(&self, name: &str, waiting: &UnboundedReceiver<Message>) -> bool {
        let mut open = self.lock();
        let is_idle = waiting.is_empty();
        if is_idle {
            open.remove(name);
        }
        is_idle
    }

    /// Offers to close a document when another one needs its place, unless a message for it is
    /// waiting.
    pub(super) fn offer(&self, name: &str, waiting: &UnboundedReceiver<Message>) {
        let mut open = self.lock();
        if waiting.is_empty() {
            open.offer(name);
        }
    }

    /// Removes a document.
    pub(super) fn remove(&self, name: &str) {
        self.lock().remove(name);
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, OpenTable<Message>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
