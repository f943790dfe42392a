//! All open documents, by name.

use std::num::NonZero;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use groupwire_session::Error;
use groupwire_session::limits::MAX_ROOM_NAME;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

use super::config::YjsLimits;
use super::figures::{Counters, DocumentFigures, add};
use super::open_document::Peer;
use super::task::{Message, Task};
use crate::rooms::hub::{Hub, NotJoined};
use crate::tools::open_table::OpenTable;

/// The documents of a server.
pub(crate) struct Documents {
    pub(super) limits: YjsLimits,
    pub(super) counters: Arc<Counters>,
    /// The tasks of open documents, by their names.
    open: Mutex<OpenTable<Message>>,
    last_connection: AtomicU64,
    /// Permits for merging and comparing large documents: at most one at a time per processor, so that rooms do not wait for them.
    pub(super) large: Semaphore,
}

/// A connection's number, and the sender of messages to its document.
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

    /// Closes all connections.
    pub(crate) fn shut_down(&self) {
        for document in self.lock().tasks() {
            let _ = document.send(Message::Shutdown);
        }
    }

    /// Hands a connection to its document, which is opened if it is not open.
    pub(super) fn join(
        self: &Arc<Self>,
        hub: &Arc<Hub>,
        name: &str,
        peer: Peer,
    ) -> Result<Joined, NotJoined> {
        if name.len() > MAX_ROOM_NAME {
            let (size, limit) = (name.len(), MAX_ROOM_NAME);
            return Err(Error::TooLarge { what: "the document's name", size, limit }.into());
        }
        // The lock is held, so that the document cannot close between the look-up and the message.
        let mut open = self.lock();
        if hub.drain.is_due() {
            return Err(NotJoined::Stopping { retry: hub.drain.take_times(1) });
        }
        let connection = self.last_connection.fetch_add(1, Ordering::Relaxed) + 1;
        let message = Message::Join { connection, peer };
        let message = match open.enter(name) {
            None => message,
            Some(document) => match document.send(message) {
                Ok(()) => return Ok(Joined { connection, document: document.clone() }),
                // Its task has ended, which only a bug can cause: open it anew.
                Err(mpsc::error::SendError(message)) => message,
            },
        };
        if self.counters.memory.load(Ordering::Relaxed) > self.limits.memory_bytes {
            return Err(Error::NotNow { what: "the open documents take too much memory" }.into());
        }
        let limit = self.limits.documents;
        let Some(spare) = open.make_place(limit) else {
            return Err(Error::TooMany { what: "open documents", limit }.into());
        };
        add(&self.counters.evicted, spare.len());
        for document in spare {
            let _ = document.send(Message::MakeWay);
        }
        // How many messages may wait is said at `Message`.
        let (document, messages) = mpsc::unbounded_channel();
        let _ = document.send(message);
        open.insert(name, document.clone());
        drop(open);
        let task = Task { name: name.to_owned(), hub: Arc::clone(hub), messages };
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

    /// Offers to close a document when another one needs its place, unless a message for it is waiting.
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

    fn lock(&self) -> MutexGuard<'_, OpenTable<Message>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::SinkExt;
    use tokio_tungstenite::WebSocketStream;
    use tungstenite::Message as Frame;
    use tungstenite::protocol::Role;

    use super::super::connection::serve;
    use super::super::pace::Cost;
    use super::*;
    use crate::server::config::Config;

    #[tokio::test]
    async fn one_message_of_a_connection_waits_for_a_document_that_is_busy() {
        let hub = Arc::new(Hub::new(Config::default(), None, None).unwrap());
        let (sender, mut document) = mpsc::unbounded_channel();
        hub.documents.lock().insert("plan", sender);
        let (here, there) = tokio::io::duplex(1 << 20);
        let socket = WebSocketStream::from_raw_socket(there, Role::Server, None).await;
        let serving = tokio::spawn(serve(Arc::clone(&hub), socket, "plan".to_owned(), Vec::new()));
        let mut client = WebSocketStream::from_raw_socket(here, Role::Client, None).await;
        for _ in 0..100 {
            client.send(Frame::Binary(vec![0; 100].into())).await.unwrap();
        }
        let Some(Message::Join { peer, .. }) = document.recv().await else { panic!("it joins") };
        for handled in 0..10 {
            for _ in 0..1000 {
                tokio::task::yield_now().await;
            }
            assert_eq!(document.len(), 1, "after {handled}");
            let Ok(Message::Packet { done, .. }) = document.try_recv() else { panic!("a packet") };
            done.send(Cost { bytes: 0, deliveries: 1 }).unwrap();
        }
        drop((peer, document, client));
        serving.await.unwrap();
    }
}
