//! The names of a document's channels in its room, which `groupwire-yjs` in `web/yjs` uses by
//! default.

/// The channel of updates, and the part of the snapshot.
pub(super) const DOCUMENT: &str = "yjs";

/// The channel of awareness.
pub(super) const AWARENESS: &str = "yjs/awareness";
