//! The reasons for which a room does not answer, or takes no connection.

use std::time::Duration;

use groupwire_session::Error;

use crate::lifecycle::drain::Drain;

/// Why a room did not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    /// The room is neither open nor stored.
    NoRoom,
    /// The room cannot be opened, or ends at this moment.
    NotNow,
    /// Another server has the room.
    NotHere,
}

/// Why a connection was not handed to a room.
pub(crate) enum NotJoined {
    Refused(Error),
    /// The server stops: the client may come back after this time.
    Stopping {
        retry: Duration,
    },
    /// More clients come than the server can serve: this one comes back after this time.
    Deferred {
        retry: Duration,
    },
}

impl NotJoined {
    /// The server stops. Takes the next of the times at which clients come back.
    pub(crate) fn stopping(drain: &Drain) -> Self {
        NotJoined::Stopping { retry: drain.take_times(1) }
    }
}

impl From<Error> for NotJoined {
    fn from(error: Error) -> Self {
        NotJoined::Refused(error)
    }
}
