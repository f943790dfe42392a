//! Tells an event loop that a room has events, by bytes in a socket: an event loop of any language
//! waits for sockets, and the thread of this library calls no code of the program.

use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use groupwire_client::Readiness;

use crate::error::{Code, Error};
use crate::runtime::Host;

/// The end of the socket that the program waits for.
pub(crate) struct Ready {
    reader: UnixStream,
}

impl Ready {
    /// Starts to write a byte whenever events came to an empty queue, and when the room has ended.
    pub(crate) fn start(readiness: Readiness, host: &Host) -> Result<Ready, Error> {
        let failed =
            |error| Error::own(Code::Internal, format!("no socket could be made: {error}"));
        let (reader, mut writer) = UnixStream::pair().map_err(failed)?;
        reader.set_nonblocking(true).map_err(failed)?;
        writer.set_nonblocking(true).map_err(failed)?;
        // What came before this call has no byte of its own.
        wake(&mut writer);
        match host {
            Host::Thread(runtime) => {
                runtime.spawn(tell(readiness, writer, || ()));
            }
            Host::World(world, told) => {
                let told = Arc::clone(told);
                world.spawn(Box::pin(tell(readiness, writer, move || told())));
            }
        }
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

/// Writes a byte each time, and calls `told`.
async fn tell(readiness: Readiness, mut writer: UnixStream, told: impl Fn()) {
    while readiness.wait().await && wake(&mut writer) {
        told();
    }
    wake(&mut writer);
    told();
}

/// Writes a byte; returns false if nobody reads any more. A full socket has bytes enough to wake
/// the reader.
fn wake(writer: &mut UnixStream) -> bool {
    match writer.write_all(&[1]) {
        Ok(()) => true,
        Err(error) => error.kind() == ErrorKind::WouldBlock,
    }
}
