//! The new process: asks the old one for its sockets, and takes its place.

use std::io::{self, ErrorKind};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use super::descriptors::receive;
use crate::admin::protocol::{MAX_REPLY, Reply, Request, SOCKET, read_line, write_line};
use crate::lifecycle::sockets::Sockets;

/// The time for each answer of the old process.
const PATIENCE: Duration = Duration::from_secs(10);

/// The running server whose place this process takes. It goes on unless it is told to end.
pub(crate) struct Predecessor(UnixStream);

impl Predecessor {
    /// Asks the server that uses the folder for its sockets; `None` if none runs. This blocks until
    /// it has answered.
    ///
    /// # Errors
    /// A server runs, and does not hand its sockets over.
    pub(crate) fn ask(folder: &Path) -> io::Result<Option<(Self, Sockets)>> {
        let mut stream = match UnixStream::connect(folder.join(SOCKET)) {
            // A server that was killed leaves the file behind.
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused) =>
            {
                return Ok(None);
            }
            stream => stream?,
        };
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        write_line(&mut stream, &Request::Upgrade)?;
        let Some(sockets) = receive(&stream)? else {
            return Err(io::Error::other("its version does not hand its sockets over, or it ends"));
        };
        let lines = match read_line(&stream, MAX_REPLY)? {
            Reply::Sockets(lines) if lines.len() == sockets.len() => lines,
            Reply::Failed(why) => return Err(io::Error::other(why)),
            _ => return Err(io::Error::other("it answers something else: its version differs")),
        };
        let sockets = Sockets::new(lines.into_iter().zip(sockets).collect());
        Ok(Some((Predecessor(stream), sockets)))
    }

    /// Tells the server to end. It says goodbye to its clients and closes its store. This blocks
    /// until it has answered.
    ///
    /// # Errors
    /// It does not end for this process: it is ending already, or another process has taken its
    /// place.
    pub(crate) fn replace(self) -> io::Result<()> {
        write_line(&mut &self.0, &Request::TakeOver)?;
        match read_line(&self.0, MAX_REPLY)? {
            Reply::TakenOver => Ok(()),
            Reply::Failed(why) => Err(io::Error::other(why)),
            _ => Err(io::Error::other("it answers something else: its version differs")),
        }
    }
}
