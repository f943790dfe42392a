//! The errors of the native client.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Every error of the native client.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The address cannot be that of a Groupwire server.
    #[error("{url:?} is no address of a server: {why}")]
    Address {
        /// The address as it was given.
        url: String,
        /// The part of the address that is wrong, and how to write it instead.
        why: &'static str,
    },
    /// The last attempt to open a transport failed. The client keeps trying.
    #[error("{url} cannot be reached ({source}): is `groupwire serve` running there?")]
    Unreachable {
        /// The address of the server.
        url: String,
        /// Why the transport could not be opened.
        source: Arc<DialError>,
    },
    /// An error of the session: the session protocol, the server or a limit refused something.
    #[error(transparent)]
    Session(#[from] groupwire_session::Error),
    /// The session was left, or ended because its last [`Room`](crate::Room) was dropped.
    #[error("the session is over: connect again")]
    Over,
}

/// Why a transport could not be opened.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum DialError {
    /// Opening the transport took too long.
    #[error("no answer within {} s", limit.as_secs())]
    Timeout {
        /// How long the client waited.
        limit: Duration,
    },
    /// The operating system could not connect, or could not make a socket.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The TLS handshake failed, for example because the certificate is not that of a known
    /// authority.
    #[error("the TLS handshake failed: {source}")]
    Tls {
        /// What the TLS library says.
        source: io::Error,
    },
    /// The file of root certificates, of [`Trust::File`](crate::Trust::File), cannot be used.
    #[error("cannot use the root certificates in {}: {why}", path.display())]
    Roots {
        /// The file.
        path: PathBuf,
        /// The reason, as a part of a sentence.
        why: String,
    },
    /// The HTTP server does not offer a WebSocket at this address.
    #[error("the server answered HTTP {status} instead of opening a WebSocket")]
    NotWebSocket {
        /// The HTTP status of the server's answer.
        status: u16,
    },
    /// The HTTP/3 server does not offer WebTransport at this address.
    #[error("the server offers no WebTransport at this path")]
    NotWebTransport,
    /// No packet of the server came back over UDP.
    #[error("no answer over UDP: a firewall may block it")]
    NoUdp,
    /// `GET /transports`, which names the server's certificate, failed.
    #[error("GET /transports over HTTP failed: {source}")]
    Discovery {
        /// The error of the operating system.
        source: io::Error,
    },
    /// `GET /transports` was answered, but not with a certificate to connect to.
    #[error("the answer to GET /transports cannot be used: {why}")]
    Transports {
        /// The part of the answer that is wrong.
        why: String,
    },
    /// The WebSocket or QUIC library failed for another reason.
    #[error(transparent)]
    Protocol(Box<dyn std::error::Error + Send + Sync>),
}

impl DialError {
    pub(crate) fn protocol(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        DialError::Protocol(Box::new(error))
    }
}

/// Two errors are equal if they have the same text: those of the operating system and of libraries
/// cannot be compared.
impl PartialEq for DialError {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Eq for DialError {}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    #[test]
    fn an_unreachable_server_keeps_the_error_of_the_system() {
        let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
        let source = Arc::new(DialError::Discovery { source: refused });
        let error = Error::Unreachable { url: "https://localhost".to_owned(), source };
        let dial = error.source().and_then(|dial| dial.downcast_ref::<Arc<DialError>>());
        let system = dial.and_then(|dial| dial.source()).and_then(|error| error.downcast_ref());
        assert_eq!(system.map(io::Error::kind), Some(io::ErrorKind::ConnectionRefused));
    }
}
