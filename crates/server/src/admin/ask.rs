//! The client's end of the socket, in `groupwire store`.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;

use super::protocol::{MAX_REPLY, Reply, Request, SOCKET, read_line, write_line};

/// Asks the server that uses the folder to carry a request out. This blocks until it has.
///
/// # Errors
/// No server listens there, this user may not ask it, or it ended before it answered.
pub fn ask(folder: &Path, request: &Request) -> io::Result<Reply> {
    let mut stream = UnixStream::connect(folder.join(SOCKET))?;
    write_line(&mut stream, request)?;
    read_line(stream, MAX_REPLY)
}
