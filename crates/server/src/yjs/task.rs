//! The task of one open document.

use std::mem;
use std::sync::Arc;
use std::time::Duration;

use groupwire_session::Position;
use groupwire_yjs::{Document, StateVector, Update, without_deleted};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::oneshot;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, interval, sleep_until};

use super::documents::Documents;
use super::ending::Ending;
use super::figures::add;
use super::message::Message;
use super::open_document::{OpenDocument, Peer, Todo};
use super::pace::Cost;
use super::room::{News, SharedDocument};
use crate::rooms::task::KEEP_STORED;
use crate::tools::wall::wall_ms;

/// How often the states of the room's participants are renewed: clients of y-websocket renew their
/// own as often, and forget each other after 30 s without.
const RENEWAL: Duration = Duration::from_secs(15);

/// Documents from this size on are merged and compared on another thread.
const LARGE: usize = 256 << 10;

/// A client that asks for a document pays for one byte in this many of it, beside those of the
/// answer: searching 16 bytes takes about as long as sending one.
const LOOKED_THROUGH: usize = 16;

/// While more bytes of updates wait for the room, the connections of their senders are not read.
const MOST_WAITING: usize = 4 << 20;

/// The task of a document.
pub(super) struct Task {
    pub(super) name: String,
    pub(super) documents: Arc<Documents>,
    pub(super) messages: UnboundedReceiver<Message>,
}

impl Task {
    /// Drives the document until it has had no connections for a time.
    pub(super) async fn run(mut self) {
        let Err(ending) = self.drive().await else { return };
        // Connections that begin from now on open the document anew.
        self.documents.remove(&self.name);
        while let Ok(message) = self.messages.try_recv() {
            if let Message::Join { peer, .. } = message {
                peer.outbox.end(ending.clone());
            }
        }
    }

    /// # Errors
    /// The document ends and can be opened again. The Ending tells its clients why.
    async fn drive(&mut self) -> Result<(), Ending> {
        let documents = Arc::clone(&self.documents);
        let shared = SharedDocument::join(Arc::clone(&documents.rooms), &self.name);
        let shared = shared.map_err(|error| Ending::refused(&error))?;
        let (limits, counters) = (documents.limits.clone(), Arc::clone(&documents.counters));
        let open = OpenDocument::new(Document::default(), limits, counters);
        let collects = documents.limits.collects(&self.name);
        let mut driver =
            Driver { open, shared, documents, collects, makes_way: false, held: Vec::new() };
        let outcome = self.run_with(&mut driver).await;
        match &outcome {
            Ok(()) => {
                tracing::debug!(document = self.name, "document closed");
                driver.shared.leave();
            }
            Err(ending) => driver.open.end_all(ending),
        }
        outcome
    }

    async fn run_with(&mut self, driver: &mut Driver) -> Result<(), Ending> {
        driver.follow_room().await?;
        while !driver.shared.is_synced() {
            driver.shared.wait().await;
            driver.follow_room().await?;
        }
        // A document with content in a room in memory stays as long as the empty room, because the
        // room may not have all of it.
        let keep = match driver.shared.is_stored() {
            true => KEEP_STORED,
            false => self.documents.rooms.context().keep_empty,
        };
        let mut empty_since: Option<Instant> = None;
        let mut renewal = interval(RENEWAL);
        loop {
            let closing = async {
                match empty_since.and_then(|since| since.checked_add(keep)) {
                    Some(at) => sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                message = self.messages.recv() => {
                    let Some(message) = message else { return Ok(()) };
                    driver.handle(message).await?;
                }
                () = driver.shared.wait() => {}
                _ = renewal.tick() => driver.renew(),
                () = closing => {}
            }
            driver.follow_room().await?;
            if driver.open.len() > 0 || !driver.shared.is_idle() {
                (empty_since, driver.makes_way) = (None, false);
                continue;
            }
            let since = *empty_since.get_or_insert_with(Instant::now);
            let has_content = driver.open.document.size() > 0;
            if !has_content || driver.makes_way || since.elapsed() >= keep {
                if driver.documents.close(&self.name, &self.messages) {
                    return Ok(());
                }
            } else if driver.shared.is_stored() {
                driver.documents.offer(&self.name, &self.messages);
            }
        }
    }
}

/// An open document with its place in the room.
struct Driver {
    open: OpenDocument,
    shared: SharedDocument,
    documents: Arc<Documents>,
    /// True if the document is merged for the room without deleted content.
    collects: bool,
    /// True if another document needs the place, as long as nobody comes.
    makes_way: bool,
    /// Connections that are read again once fewer bytes wait, with the cost of their messages.
    held: Vec<(oneshot::Sender<Cost>, Cost)>,
}

impl Driver {
    async fn handle(&mut self, message: Message) -> Result<(), Ending> {
        match message {
            Message::Join { connection, peer } => self.join(connection, peer),
            Message::Packet { connection, bytes, done } => {
                self.packet(connection, &bytes, done).await?;
            }
            Message::Drained { connection } => {
                if let Some(there) = self.open.drained(connection) {
                    let rest = self.difference(there).await?;
                    self.open.catch_up(connection, &rest);
                }
            }
            Message::Left { connection } => self.open.leave(connection),
            Message::MakeWay => self.makes_way = true,
            Message::Shutdown => self.open.end_all(&Ending::restart()),
        }
        for state in self.open.untold() {
            self.shared.show(state.client, state.json);
        }
        Ok(())
    }

    fn join(&mut self, connection: u64, peer: Peer) {
        let limit = self.documents.limits.connections;
        if self.open.len() >= limit {
            let why = format!("too many connections to the document: the limit is {limit}");
            return peer.outbox.end(Ending::not_now(why));
        }
        self.open.join(connection, peer);
    }

    async fn packet(
        &mut self,
        connection: u64,
        bytes: &[u8],
        done: oneshot::Sender<Cost>,
    ) -> Result<(), Ending> {
        let mut cost = Cost { bytes: bytes.len(), deliveries: 1 };
        match self.open.take(connection, bytes) {
            Todo::Nothing => {}
            Todo::Told => cost.deliveries = self.open.len(),
            Todo::Answer(there) => {
                let rest = self.difference(there).await?;
                self.open.answer(connection, &rest);
                cost.bytes += rest.len() + self.open.document.size() / LOOKED_THROUGH;
            }
            Todo::Publish(update) => {
                cost.deliveries = self.open.len();
                let waits = update.len();
                self.shared.publish(update, waits);
                self.held.push((done, cost));
                self.release();
                return Ok(());
            }
        }
        // The connection may have ended.
        let _ = done.send(cost);
        Ok(())
    }

    /// Takes the room's news, and answers its requests.
    async fn follow_room(&mut self) -> Result<(), Ending> {
        for news in self.shared.poll()? {
            match news {
                News::Update { update, waited } => {
                    self.open.take_ordered(update, waited);
                    if self.open.document.is_scattered() {
                        self.with_document(|document| document.merge().len()).await?;
                    }
                    if self.open.document.size() > groupwire_yjs::MAX_UPDATE {
                        return Err(Ending::too_large("the document is too large for this server"));
                    }
                }
                News::States(changes) => self.open.show_all(changes, wall_ms()),
                News::SnapshotWanted { as_of, begun } => self.snapshot(as_of, begun).await?,
                News::Lead(there) => {
                    let rest = self.difference(there).await?;
                    self.shared.answer(rest);
                }
                News::Lacking => {
                    let there = self.open.document.state_vector();
                    self.shared.ask(&there);
                }
            }
        }
        self.open.count_room(self.shared.memory());
        self.release();
        Ok(())
    }

    /// Sends all connections once more the states of the room's participants.
    fn renew(&mut self) {
        if self.open.len() > 0 {
            self.open.show_all(self.shared.states(), wall_ms());
        }
    }

    async fn snapshot(&mut self, as_of: Position, begun: Vec<u8>) -> Result<(), Ending> {
        let collects = self.collects;
        let merged = self.with_document(move |document| merged(document, collects)).await?;
        let Some(merged) = merged else { return Ok(()) };
        match self.shared.snapshot(as_of, begun, &merged) {
            Ok(()) => add(&self.documents.counters.compactions, 1),
            Err(error) => tracing::warn!(%error, "the document cannot be merged in its room"),
        }
        Ok(())
    }

    /// Lets the held connections be read again, if few bytes wait.
    fn release(&mut self) {
        if self.open.waiting <= MOST_WAITING {
            for (done, cost) in self.held.drain(..) {
                // The connection may have ended.
                let _ = done.send(cost);
            }
        }
    }

    async fn difference(&mut self, there: StateVector) -> Result<Vec<u8>, Ending> {
        self.with_document(move |document| document.diff(&there)).await
    }

    /// Calls a function with the document, on another thread if that may take long.
    async fn with_document<T: Send + 'static>(
        &mut self,
        call: impl FnOnce(&mut Document) -> T + Send + 'static,
    ) -> Result<T, Ending> {
        if self.open.document.size() < LARGE {
            return Ok(call(&mut self.open.document));
        }
        // The semaphore is never closed.
        let _permit = self.documents.large.acquire().await;
        let mut document = mem::take(&mut self.open.document);
        let called = spawn_blocking(move || {
            let result = call(&mut document);
            (document, result)
        });
        match called.await {
            Ok((document, result)) => {
                self.open.document = document;
                Ok(result)
            }
            Err(error) => {
                tracing::error!(%error, "a document cannot be merged: it is loaded again");
                Err(Ending::restart())
            }
        }
    }
}

/// The document as one update; `None` if the structs or deletions of that update differ from the
/// document's.
fn merged(document: &mut Document, collects: bool) -> Option<Vec<u8>> {
    let mut bytes = document.diff(&StateVector::default());
    if collects && let Ok(update) = Update::parse(&bytes) {
        bytes = without_deleted(&update);
    }
    let again = Document::of([&*bytes]).ok().filter(|again| again.is_alike(document));
    let Some(again) = again else {
        tracing::error!("a merged document differs from its updates: it is not stored");
        return None;
    };
    *document = again;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Client 1 writes "hello" and deletes it, and client 2 writes "bye".
    const WRITTEN: &[u8] = &[1, 1, 1, 0, 4, 1, 1, b't', 5, b'h', b'e', b'l', b'l', b'o', 0];
    const DELETED: &[u8] = &[1, 1, 2, 0, 4, 1, 1, b't', 3, b'b', b'y', b'e', 1, 1, 1, 0, 5];

    #[test]
    fn what_was_deleted_is_left_out_if_that_is_asked_for() {
        for collects in [false, true] {
            let mut document = Document::of([WRITTEN, DELETED]).unwrap();
            let before = document.clone();
            let bytes = merged(&mut document, collects).unwrap();
            assert!(document.is_alike(&before));
            assert_eq!(document.diff(&StateVector::default()), bytes);
            assert_eq!(bytes.windows(4).any(|some| some == b"hell"), !collects);
            assert!(bytes.windows(3).any(|some| some == b"bye"));
        }
    }
}
