//! Why a stream is over, kept so that both halves can be told.

use std::error::Error;
use std::fmt;
use std::io;
use std::sync::Arc;

use groupwire_ace::StreamError;

#[derive(Debug, Clone)]
pub(super) enum Failure {
    /// What came is not what may come, or too little came.
    Stream(StreamError),
    /// An error of the transport.
    Transport(Arc<io::Error>),
}

impl Failure {
    /// Whether the transport has ended, if not in order, as TLS tells it.
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
                None => io::Error::new(error.kind(), Shared(Arc::clone(error))),
            },
        }
    }
}

/// An error that is told more than once.
#[derive(Debug)]
struct Shared(Arc<io::Error>);

impl fmt::Display for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for Shared {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.get_ref().map(|error| error as _)
    }
}
