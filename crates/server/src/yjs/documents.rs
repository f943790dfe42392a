//! All open documents, by name.

use std::collections::HashMap;
use std::num::NonZero;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use groupwire_session::Error;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

use super::config::YjsLimits;
use super::figures::{Counters, DocumentFigures};
use super::open_document::Peer;
use super::task::{Message, Task};
use crate::durable::Durable;

/// What the names of documents begin with in the store, where rooms are, too. No room may be called so.
const PREFIX: &str = "yjs:";

/// The longest name of a document, in bytes, so that its name in the store is not longer than a room's (wire W11).
const LONGEST_NAME: usize = groupwire_store::limits::MAX_NAME - PREFIX.len();

/// True if a document could have this name in the store.
pub(crate) fn is_stored_name(room: &str) -> bool {
    room.starts_with(PREFIX)
}

/// The documents of a server.
pub(crate) struct Documents {
    pub(super) limits: YjsLimits,
    pub(super) counters: Arc<Counters>,
    /// The tasks of open documents, by their names in the store.
    open: Mutex<HashMap<String, UnboundedSender<Message>>>,
    last_connection: AtomicU64,
    /// Permits for merging and comparing large documents at the same time: one for each processor, so that rooms do not wait for them.
    pub(super) large: Semaphore,
}

/// How a document is kept.
pub(super) struct Keeping {
    /// Where it is stored; `None` if it ends with the server.
    pub(super) durable: Option<Arc<Durable>>,
    /// How long it is kept without connections if it is not stored.
    pub(super) keep_empty: Duration,
}

/// The way from a connection to its document.
pub(super) struct Joined {
    pub(super) connection: u64,
    pub(super) document: UnboundedSender<Message>,
}

impl Documents {
    pub(crate) fn new(limits: &YjsLimits) -> Self {
        Documents {
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

    /// True if a document of this name in the store is open.
    pub(crate) fn is_open(&self, stored_name: &str) -> bool {
        self.lock().contains_key(stored_name)
    }

    /// Ends a document whose stored content was deleted or replaced, if it is open.
    pub(crate) fn end_stored(&self, stored_name: &str) {
        if let Some(document) = self.lock().get(stored_name) {
            let _ = document.send(Message::Replaced);
        }
    }

    /// Closes all connections.
    pub(crate) fn shut_down(&self) {
        for document in self.lock().values() {
            let _ = document.send(Message::Shutdown);
        }
    }

    /// Hands a connection to its document, which is opened if it is not open. `keeping` is asked whether that may be now, and how a document of
    /// this name in the store is kept.
    pub(super) fn join<E: From<Error>>(
        self: &Arc<Self>,
        name: &str,
        peer: Peer,
        keeping: impl FnOnce(&str) -> Result<Keeping, E>,
    ) -> Result<Joined, E> {
        if name.len() > LONGEST_NAME {
            let (size, limit) = (name.len(), LONGEST_NAME);
            return Err(Error::TooLarge { what: "the document's name", size, limit }.into());
        }
        let name = format!("{PREFIX}{name}");
        // The lock is held, so that the document cannot close between the look-up and the message.
        let mut open = self.lock();
        let keeping = keeping(&name)?;
        let connection = self.last_connection.fetch_add(1, Ordering::Relaxed) + 1;
        let message = Message::Join { connection, peer };
        let message = match open.get(&name) {
            None => message,
            Some(document) => match document.send(message) {
                Ok(()) => return Ok(Joined { connection, document: document.clone() }),
                // Its task has ended, which only a bug can cause: open it anew.
                Err(mpsc::error::SendError(message)) => message,
            },
        };
        let limit = self.limits.documents;
        if open.len() >= limit {
            return Err(Error::TooMany { what: "open documents", limit }.into());
        }
        if self.counters.memory.load(Ordering::Relaxed) > self.limits.memory_bytes {
            return Err(Error::NotNow { what: "the open documents take too much memory" }.into());
        }
        let (document, messages) = mpsc::unbounded_channel();
        let _ = document.send(message);
        open.insert(name.clone(), document.clone());
        drop(open);
        let (documents, sender) = (Arc::clone(self), document.downgrade());
        let task = Task { name, documents, keeping, messages, sender };
        tokio::spawn(task.run());
        Ok(Joined { connection, document })
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

    /// Removes a document.
    pub(super) fn remove(&self, name: &str) {
        self.lock().remove(name);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, UnboundedSender<Message>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
