//! Limits of documents.

use crate::tools::pattern::matches;

/// Limits of the documents of Yjs that the server holds for clients of y-websocket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct YjsLimits {
    /// Most documents that are open at the same time.
    pub documents: usize,
    /// Most connections to one document.
    pub connections: usize,
    /// Most bytes of one message, such as an update; at most 16 MiB.
    pub message_bytes: usize,
    /// Most bytes of a document; at most 64 MiB.
    pub document_bytes: usize,
    /// While the open documents take more bytes of memory than this together, no further one is
    /// opened, and none grows.
    pub memory_bytes: usize,
    /// Patterns of the names of documents that are merged without deleted content, as by Yjs' own
    /// garbage collection; a star stands for any text. Other documents keep deleted content, for
    /// programs that show earlier states.
    pub collect: Vec<String>,
}

/// The largest record of the store.
pub(super) const LARGEST_MESSAGE: usize = crate::durable::limits::MAX_RECORD;

/// The largest update that can be checked, and what fits into a part of a snapshot in the store.
const LARGEST_DOCUMENT: usize = groupwire_yjs::MAX_UPDATE;

impl Default for YjsLimits {
    fn default() -> Self {
        YjsLimits {
            documents: 10_000,
            connections: 1000,
            // Enough for a text of 1,000 pages that is pasted at once.
            message_bytes: 4 << 20,
            document_bytes: 16 << 20,
            memory_bytes: 1 << 30,
            collect: Vec::new(),
        }
    }
}

impl YjsLimits {
    /// Whether the document of this name is merged without deleted content.
    pub(super) fn collects(&self, document: &str) -> bool {
        self.collect.iter().any(|pattern| matches(pattern, document))
    }

    /// These limits, lowered to what the store and the checks of updates can take.
    pub(super) fn within_reach(&self) -> Self {
        YjsLimits {
            message_bytes: self.message_bytes.min(LARGEST_MESSAGE),
            document_bytes: self.document_bytes.min(LARGEST_DOCUMENT),
            ..self.clone()
        }
    }
}
