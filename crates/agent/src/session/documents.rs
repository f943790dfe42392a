//! The Yjs documents of a session.

use std::sync::Arc;
use std::time::Duration;

use groupwire_client::limits::MAX_CHANNEL_NAME;

use tokio::time::timeout;

use super::{Session, lock, no_answer};
use crate::config::Config;
use crate::documents::{AWARENESS, Document};
use crate::error::ToolError;
use crate::inbox::{ChannelState, Inbox};

impl Session {
    /// A Yjs document of the room, once its late-joiner state is complete. It is opened if it is
    /// not open yet.
    pub(crate) async fn document(
        &self,
        name: &str,
        config: &Config,
    ) -> Result<Arc<Document>, ToolError> {
        let document = self.open_document(name, config)?;
        let id = document.channel();
        // What is there can be read without a connection, too.
        if !self.inbox().channels.get(&id).is_some_and(|channel| channel.synced) {
            self.ready(id, "sent the document", config.limits.answer).await?;
        }
        // After the server has lost the room, what it lacks goes to it first.
        let is_restored = |_: &Inbox| (!document.is_restoring()).then_some(());
        let restored = timeout(config.limits.answer, self.until(is_restored)).await;
        restored.map_err(|_| no_answer("taken the document again"))?;
        Ok(document)
    }

    /// True if tools have opened a Yjs document with this channel.
    pub(crate) fn has_document(&self, channel: &str) -> bool {
        let name = channel.strip_suffix(AWARENESS).unwrap_or(channel);
        lock(&self.documents).contains_key(name)
    }

    fn open_document(&self, name: &str, config: &Config) -> Result<Arc<Document>, ToolError> {
        // The locks keep the reader from taking events of the document before it is known.
        let mut documents = lock(&self.documents);
        if let Some(document) = documents.get(name) {
            return Ok(Arc::clone(document));
        }
        let mut inbox = self.inbox();
        if (1..=MAX_CHANNEL_NAME - AWARENESS.len()).contains(&name.len())
            && inbox.channel(name).is_none()
        {
            let limit = config.limits.documents;
            if documents.len() >= limit {
                let message = format!("an agent opens at most {limit} Yjs documents of a room");
                return Err(ToolError::new("too-many-documents", message));
            }
            let document = Document::open(&self.room, name, config)?;
            inbox.channels.insert(document.channel(), ChannelState::new(name, false));
            documents.insert(name.to_owned(), Arc::clone(&document));
            return Ok(document);
        }
        Err(ToolError::argument(format!("{name:?} is no name of a Yjs document")))
    }

    /// Waits until the server has confirmed a change of a document. False: no confirmation came in
    /// time; the client keeps trying.
    pub(crate) async fn document_confirmed(
        &self,
        document: &Document,
        before: u64,
        patience: Duration,
    ) -> Result<bool, ToolError> {
        let outcome = self.confirmed(document.channel(), before, patience).await;
        if outcome.is_err() {
            document.refused();
        }
        Ok(outcome? && document.is_sent())
    }
}
