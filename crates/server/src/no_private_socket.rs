//! Systems without Unix sockets: none can be made.

use std::convert::Infallible;
use std::io;
use std::path::Path;

use tokio::net::TcpStream;

/// Takes the place of the socket, and is never made.
pub(crate) struct PrivateSocket(Infallible);

impl PrivateSocket {
    pub(crate) fn bind_unused(_path: &Path) -> io::Result<Self> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "this system has no Unix sockets"))
    }

    pub(crate) async fn accept(&self) -> TcpStream {
        match self.0 {}
    }
}
