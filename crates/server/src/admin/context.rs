//! What the commands on the socket use of the server.

use std::sync::Arc;

use crate::lifecycle::sockets::Handover;
use crate::rooms::directory::Directory;

/// See the [module](self).
#[cfg_attr(not(unix), allow(dead_code, reason = "commands come over a Unix socket"))]
pub(crate) struct CommandContext {
    pub(crate) rooms: Arc<Directory>,
    /// The listening sockets, for the process that takes this one's place.
    pub(crate) handover: Arc<Handover>,
}
