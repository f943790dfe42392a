//! For systems without Unix sockets, where no private socket can be made.

use std::convert::Infallible;
use std::io;
use std::path::Path;
use std::sync::Arc;

use socket2::Socket;
use tokio::net::TcpStream;

/// Takes the place of the socket, and is never made.
pub(crate) struct PrivateSocket(Infallible);

impl PrivateSocket {
    pub(crate) fn bind_unused(_path: &Path) -> io::Result<Self> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "this system has no Unix sockets"))
    }

    pub(crate) fn taken(_socket: Socket, _path: &Path) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn offer(&self) -> (Arc<SocketFile>, io::Result<Socket>) {
        match self.0 {}
    }

    pub(crate) async fn accept(&self) -> TcpStream {
        match self.0 {}
    }
}

/// Takes the place of the socket's file, and is never made.
pub(crate) struct SocketFile(Infallible);

impl SocketFile {
    pub(crate) fn path(&self) -> &Path {
        match self.0 {}
    }

    #[allow(dead_code, reason = "only Unix sockets carry sockets")]
    pub(crate) fn leave(&self) {
        match self.0 {}
    }
}
