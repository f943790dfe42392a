//! The task of one open document.

use std::mem;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use groupwire_store::Error as StoreError;
use groupwire_yjs::{Document, StateVector};
use tokio::sync::mpsc::{UnboundedReceiver, WeakUnboundedSender};
use tokio::sync::oneshot;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep_until};

use super::documents::{Documents, Keeping};
use super::ending::Ending;
use super::figures::add;
use super::open_document::{OpenDocument, Peer, Todo};
use super::pace::Cost;
use super::storage::{self, Storage};

/// A message to the task of a document.
pub(super) enum Message {
    Join {
        connection: u64,
        peer: Peer,
    },
    /// A message of a client. `done` hears what it has cost when the next one may be read.
    Packet {
        connection: u64,
        bytes: Bytes,
        done: oneshot::Sender<Cost>,
    },
    /// Everything was sent to a client that was slow.
    Drained {
        connection: u64,
    },
    /// A connection has ended.
    Left {
        connection: u64,
    },
    /// The store has answered.
    Stored(Result<(), StoreError>),
    /// The store may take what it refused.
    StoreAgain,
    /// The store has answered about the merged document.
    Saved(Result<(), StoreError>),
    /// The server stops.
    Shutdown,
    /// What is stored of the document was deleted or replaced.
    Replaced,
}

/// A stored document without connections stays open for this long, as pages that are loaded again come back at once.
const KEEP_STORED: Duration = Duration::from_secs(2);

/// Documents from this size on are merged and compared on another thread.
const LARGE: usize = 256 << 10;

/// A client that asks for a document pays with this share of its bytes, beside those of the answer: looking through 16 bytes takes about as long
/// as sending one.
const LOOKED_THROUGH: usize = 16;

/// What the task of a document is given.
pub(super) struct Task {
    /// Its name in the store.
    pub(super) name: String,
    pub(super) documents: Arc<Documents>,
    pub(super) keeping: Keeping,
    pub(super) messages: UnboundedReceiver<Message>,
    pub(super) sender: WeakUnboundedSender<Message>,
}

impl Task {
    /// Drives the document until nobody is there any more.
    pub(super) async fn run(mut self) {
        let Some((document, storage)) = self.load().await else { return };
        let keep = if storage.is_some() { KEEP_STORED } else { self.keeping.keep_empty };
        let documents = Arc::clone(&self.documents);
        let (limits, counters) = (documents.limits.clone(), Arc::clone(&documents.counters));
        let open = OpenDocument::new(document, limits, counters);
        let mut driver = Driver { open, storage, documents: Arc::clone(&documents) };
        let mut empty_since = None;
        loop {
            let closing = async {
                match empty_since {
                    Some(since) => sleep_until(since + keep).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                message = self.messages.recv() => {
                    let Some(message) = message else { return };
                    if driver.handle(message).await.is_err() {
                        // Connections that begin from now on open the document anew.
                        documents.remove(&self.name);
                        driver.open.end_all(&Ending::restart());
                        return;
                    }
                }
                () = closing => {
                    if documents.close(&self.name, &self.messages) {
                        tracing::debug!(document = self.name, "document closed");
                        return;
                    }
                }
            }
            let is_idle = driver.storage.as_ref().is_none_or(Storage::is_idle);
            empty_since = match driver.open.len() == 0 && is_idle {
                true => Some(empty_since.unwrap_or_else(Instant::now)),
                false => None,
            };
        }
    }

    /// Reads the document from the store. If that is not possible, the connections that wait for it are told to try again.
    async fn load(&mut self) -> Option<(Document, Option<Storage>)> {
        let Some(durable) = self.keeping.durable.clone() else {
            return Some((Document::default(), None));
        };
        let (store, name) = (Arc::clone(&durable), self.name.clone());
        let loaded = spawn_blocking(move || storage::load(&store, &name)).await;
        match loaded.unwrap_or_else(|error| Err(error.to_string())) {
            Ok(mut found) => {
                let document = mem::take(&mut found.document);
                let name = self.name.clone();
                let storage = Storage::new(durable, name, &found, self.sender.clone());
                Some((document, Some(storage)))
            }
            Err(error) => {
                tracing::error!(document = self.name, error, "document cannot be loaded");
                self.documents.remove(&self.name);
                while let Ok(message) = self.messages.try_recv() {
                    if let Message::Join { peer, .. } = message {
                        peer.outbox.end(Ending::not_now("the server cannot load the document"));
                    }
                }
                None
            }
        }
    }
}

/// An open document with its store.
struct Driver {
    open: OpenDocument,
    storage: Option<Storage>,
    documents: Arc<Documents>,
}

/// The document has to be loaded anew.
struct Over;

impl Driver {
    async fn handle(&mut self, message: Message) -> Result<(), Over> {
        match message {
            Message::Join { connection, peer } => self.join(connection, peer),
            Message::Packet { connection, bytes, done } => {
                self.packet(connection, &bytes, done).await?;
            }
            Message::Drained { connection } => {
                if let Some(there) = self.open.drained(connection) {
                    let rest = self.with_document(move |document| document.diff(&there)).await?;
                    self.open.catch_up(connection, &rest);
                }
            }
            Message::Left { connection } => self.open.leave(connection),
            Message::Stored(answer) => self.stored(answer).await?,
            Message::StoreAgain => {
                if let Some(storage) = &mut self.storage {
                    storage.again();
                }
            }
            Message::Saved(answer) => {
                if let Some(storage) = &mut self.storage {
                    let is_saved = storage.on_saved(answer).map_err(refused)?;
                    add(&self.documents.counters.compactions, usize::from(is_saved));
                }
            }
            Message::Shutdown => self.open.end_all(&Ending::restart()),
            Message::Replaced => {
                tracing::info!("the stored document was deleted or replaced: it is loaded again");
                return Err(Over);
            }
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
    ) -> Result<(), Over> {
        let mut cost = Cost { bytes: bytes.len(), deliveries: 1 };
        match self.open.take(connection, bytes) {
            Todo::Nothing => {}
            Todo::Told => cost.deliveries = self.open.len(),
            Todo::Answer(there) => {
                let rest = self.difference(there).await?;
                self.open.answer(connection, &rest);
                cost.bytes += rest.len() + self.open.document.size() / LOOKED_THROUGH;
            }
            Todo::Store(update) => {
                cost.deliveries = self.open.len();
                if let Some(storage) = &mut self.storage {
                    storage.store(update, done, cost);
                    return Ok(());
                }
                self.pass_on(vec![update]).await?;
            }
        }
        // The connection may have ended.
        let _ = done.send(cost);
        Ok(())
    }

    async fn difference(&mut self, there: StateVector) -> Result<Vec<u8>, Over> {
        self.with_document(move |document| document.diff(&there)).await
    }

    async fn stored(&mut self, answer: Result<(), StoreError>) -> Result<(), Over> {
        let Some(storage) = &mut self.storage else { return Ok(()) };
        let updates = storage.on_stored(answer).map_err(refused)?;
        self.pass_on(updates).await?;
        let size = self.open.document.size();
        if self.storage.as_ref().is_some_and(|storage| storage.wants_merged(size)) {
            let merged = self.with_document(merged).await?;
            if let (Some(storage), Some(merged)) = (&mut self.storage, merged) {
                storage.save(merged);
            }
        }
        Ok(())
    }

    async fn pass_on(&mut self, updates: Vec<Vec<u8>>) -> Result<(), Over> {
        updates.into_iter().for_each(|update| self.open.pass_on(update));
        if self.open.document.is_scattered() {
            self.with_document(|document| document.merge().len()).await?;
        }
        Ok(())
    }

    /// Calls a function with the document, on another thread if that may take long.
    async fn with_document<T: Send + 'static>(
        &mut self,
        call: impl FnOnce(&mut Document) -> T + Send + 'static,
    ) -> Result<T, Over> {
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
                Err(Over)
            }
        }
    }
}

/// The document as one update, if that says the same as its updates.
fn merged(document: &mut Document) -> Option<Vec<u8>> {
    let bytes = document.merge().to_vec();
    let is_alike = Document::of([bytes.as_slice()]).is_ok_and(|again| again.is_alike(document));
    if !is_alike {
        tracing::error!("a merged document differs from its updates: it is not stored");
    }
    is_alike.then_some(bytes)
}

fn refused(error: StoreError) -> Over {
    tracing::error!(%error, "the store refuses the document: it is loaded again");
    Over
}
