//! Tells an event loop that a room has events, by bytes in a socket: an event loop of any language
//! waits for sockets, and the thread of this library calls no code of the program.

use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;

use groupwire_client::Readiness;
use tokio::runtime::Handle;

use crate::error::{Code, Error};

/// The end of the socket that the program waits for.
pub(crate) struct Ready {
    reader: UnixStream,
}

impl Ready {
    /// Starts to write a byte whenever events came to an empty queue, and when the room has ended.
    pub(crate) fn start(readiness: Readiness, runtime: &Handle) -> Result<Ready, Error> {
        let failed =
            |error| Error::own(Code::Internal, format!("no socket could be made: {error}"));
        let (reader, mut writer) = UnixStream::pair().map_err(failed)?;
        reader.set_nonblocking(true).map_err(failed)?;
        writer.set_nonblocking(true).map_err(failed)?;
        // What came before this call has no byte of its own.
        wake(&mut writer);
        runtime.spawn(async move {
            while readiness.wait().await && wake(&mut writer) {}
            wake(&mut writer);
        });
        Ok(Ready { reader })
    }

    pub(crate) fn fd(&self) -> RawFd {
        self.reader.as_raw_fd()
    }

    /// Reads all bytes, before the program takes all events.
    pub(crate) fn clear(&self) {
        let mut bytes = [0; 64];
        while matches!((&self.reader).read(&mut bytes), Ok(64)) {}
    }
}

/// Writes a byte; returns false if nobody reads any more. A full socket has bytes enough to wake
/// the reader.
fn wake(writer: &mut UnixStream) -> bool {
    match writer.write_all(&[1]) {
        Ok(()) => true,
        Err(error) => error.kind() == ErrorKind::WouldBlock,
    }
}
