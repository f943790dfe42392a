//! For systems without Unix sockets, where commands for the store need the folder for themselves.

use std::io::{Error, ErrorKind, Result};
use std::path::Path;
use std::sync::Arc;

use super::context::CommandContext;
use super::protocol::{Reply, Request};

/// Takes the place of the socket.
pub(crate) struct AdminSocket;

impl AdminSocket {
    pub(crate) fn bind(_folder: &Path) -> Result<Self> {
        Ok(AdminSocket)
    }

    pub(crate) async fn serve(self, _context: Arc<CommandContext>) {
        std::future::pending().await
    }
}

/// Asks the server that uses the folder to carry a request out.
///
/// # Errors
/// Always: this system has no Unix sockets.
pub fn ask(_folder: &Path, _request: &Request) -> Result<Reply> {
    let reason =
        "a running server cannot be asked, because this system has no Unix sockets: stop it first";
    Err(Error::new(ErrorKind::Unsupported, reason))
}
