//! What a room knows of a connection besides its packets.

use super::emulation::path::PathSlot;

/// The transport of the server's own participants, which are in its process.
pub(crate) const IN_PROCESS: &str = "Yjs";

/// The transport of a mirror of a room, which another server has.
pub(crate) const MIRROR: &str = "mirror";

/// The transport of participants that have none, and send single HTTP requests.
pub(crate) const VISITOR: &str = "HTTP users";

/// What the inspector shows of a connection, and the emulated network that it goes over.
pub(crate) struct ConnInfo {
    /// The transport's name, for the inspector.
    pub(crate) transport: &'static str,
    /// Selects the emulated network of the connection; `None` if it cannot have one.
    pub(crate) path: Option<PathSlot>,
}
