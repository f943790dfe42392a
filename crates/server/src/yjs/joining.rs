//! Hands connections to their documents, and opens documents.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use groupwire_session::Error;
use groupwire_session::limits::MAX_ROOM_NAME;
use tokio::sync::mpsc::{self, UnboundedSender};

use super::documents::Documents;
use super::figures::add;
use super::message::Message;
use super::open_document::Peer;
use super::task::Task;
use crate::rooms::refused::NotJoined;

/// A connection's number, and the sender of messages to its document.
pub(super) struct Joined {
    pub(super) connection: u64,
    pub(super) document: UnboundedSender<Message>,
}

impl Documents {
    /// Hands a connection to its document, which is opened if it is not open.
    pub(super) fn join(self: &Arc<Self>, name: &str, peer: Peer) -> Result<Joined, NotJoined> {
        if name.len() > MAX_ROOM_NAME {
            let (size, limit) = (name.len(), MAX_ROOM_NAME);
            return Err(Error::TooLarge { what: "the document's name", size, limit }.into());
        }
        // The lock is held, so that the document cannot close between the look-up and the message.
        let mut open = self.lock();
        let drain = &self.rooms.context().drain;
        if drain.is_due() {
            return Err(NotJoined::stopping(drain));
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
        let task = Task { name: name.to_owned(), documents: Arc::clone(self), messages };
        tokio::spawn(task.run());
        Ok(Joined { connection, document })
    }
}

#[cfg(test)]
mod tests {
    use futures_util::SinkExt;
    use groupwire_yjs::StateVector;
    use tokio_tungstenite::WebSocketStream;
    use tungstenite::Message as Frame;
    use tungstenite::protocol::Role;

    use super::super::connection::serve;
    use super::super::pace::Cost;
    use super::*;
    use crate::server::config::Config;
    use crate::server::services::Services;

    #[tokio::test]
    async fn one_message_of_a_connection_waits_for_a_document_that_is_busy() {
        let context = Services::new(Config::default(), None, None).unwrap().documents;
        let (sender, mut document) = mpsc::unbounded_channel();
        context.documents.lock().insert("plan", sender);
        let (here, there) = tokio::io::duplex(1 << 20);
        let socket = WebSocketStream::from_raw_socket(there, Role::Server, None).await;
        let serving = tokio::spawn(serve(context, socket, "plan".to_owned(), Vec::new()));
        let mut client = WebSocketStream::from_raw_socket(here, Role::Client, None).await;
        let ask = groupwire_yjs::reply::ask_document(&StateVector::default());
        for _ in 0..100 {
            client.send(Frame::Binary(ask.clone().into())).await.unwrap();
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
