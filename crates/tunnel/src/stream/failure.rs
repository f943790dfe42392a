//! The failure of a stream, kept so that each half can return it.

use std::error::Error;
use std::fmt;
use std::io;
use std::sync::Arc;

use groupwire_ace::StreamError;

/// Why a stream has failed.
#[derive(Debug, Clone)]
pub(super) enum Failure {
    /// The received bytes are not valid or not complete.
    Stream(StreamError),
    /// An error of the transport.
    Transport(Arc<io::Error>),
}

impl Failure {
    /// Whether the transport has ended without a proper close, which TLS reports as an error.
    pub(super) fn is_end(&self) -> bool {
        matches!(self, Failure::Transport(error) if error.kind() == io::ErrorKind::UnexpectedEof)
    }
}

impl From<StreamError> for Failure {
    fn from(error: StreamError) -> Self {
        Failure::Stream(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Transport(Arc::new(error))
    }
}

impl From<io::ErrorKind> for Failure {
    fn from(kind: io::ErrorKind) -> Self {
        io::Error::from(kind).into()
    }
}

impl From<&Failure> for io::Error {
    fn from(failure: &Failure) -> Self {
        match failure {
            Failure::Stream(error @ StreamError::Truncated) => {
                io::Error::new(io::ErrorKind::UnexpectedEof, *error)
            }
            Failure::Stream(error) => io::Error::new(io::ErrorKind::InvalidData, *error),
            Failure::Transport(error) => match error.raw_os_error() {
                Some(code) => io::Error::from_raw_os_error(code),
                None => io::Error::new(error.kind(), SharedError(Arc::clone(error))),
            },
        }
    }
}

/// An error of the transport that is returned more than once.
#[derive(Debug)]
struct SharedError(Arc<io::Error>);

impl fmt::Display for SharedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for SharedError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.get_ref().map(|error| error as _)
    }
}
