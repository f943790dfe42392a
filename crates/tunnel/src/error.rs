//! Errors of a tunnel, with messages for the person who runs it.

use std::io;
use std::path::PathBuf;

use groupwire_ace::SettingsError;

use crate::preface::Refusal;
use crate::socks::SocksError;

/// Why a tunnel's end cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {cause}")]
    Listen {
        /// The address.
        address: String,
        /// The error of the system.
        cause: io::Error,
    },
    /// A file cannot be read.
    #[error("cannot read {}: {cause}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        cause: io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write {}: {cause}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        cause: io::Error,
    },
    /// The content of a file is not valid.
    #[error("{} {why}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The problem, as the end of a sentence that begins with the path.
        why: String,
    },
    /// TLS cannot be set up with the given certificate, key or name.
    #[error("TLS cannot be set up: {0}")]
    Tls(String),
    /// The process may not open as many files as it needs.
    #[error(
        "{connections} connections need {needed} open files, and this process may open {limit}: \
         raise the limit (ulimit -n {needed}) or allow fewer connections"
    )]
    OpenFiles {
        /// The number of connections that was requested.
        connections: usize,
        /// The number of open files that they need.
        needed: u64,
        /// The number of open files that the system allows.
        limit: u64,
    },
    /// The settings of the streams are not valid, or need a codec that this build does not have.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The token is too long. The field is its length in bytes.
    #[error("a token has at most 255 bytes, not {0}")]
    Token(usize),
    /// TLS or the token was left out, although the address is reachable from other machines.
    #[error("{0} is for this machine alone: listen on a loopback address, or leave it out")]
    NotLoopback(&'static str),
    /// This system cannot tell where redirected connections were meant to go.
    #[error("redirected connections are possible on Linux only: let programs use SOCKS instead")]
    NoRedirect,
}

/// Why a connection through the tunnel ended before both programs had closed it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectionError {
    /// No TCP connection to the other end of the tunnel could be made.
    #[error("cannot reach the tunnel at {address}: {cause}")]
    Reach {
        /// The address.
        address: String,
        /// The error of the system.
        cause: io::Error,
    },
    /// The other end was reached and did not answer within this many seconds.
    #[error("the other end of the tunnel did not answer within {0} s")]
    Silent(u64),
    /// The TLS handshake failed.
    #[error("no TLS with {peer}: {why}")]
    Tls {
        /// The address of the other end.
        peer: String,
        /// The reason, in words for a person.
        why: String,
    },
    /// The other end does not speak the protocol of the tunnel.
    #[error("{0} is no groupwire tunnel")]
    NoTunnel(String),
    /// The other end refused the request.
    #[error("the other end of the tunnel refused: {0}")]
    Refused(#[from] Refusal),
    /// The connection between both ends failed, or received bytes were not valid.
    #[error("the connection to the other end of the tunnel failed: {0}")]
    Tunnel(#[source] io::Error),
    /// The program's connection failed.
    #[error("the program's connection failed: {0}")]
    Program(#[source] io::Error),
    /// The settings of the stream are not valid.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// A program did not say by SOCKS within this many seconds where it wants to be connected.
    #[error("the program did not send a SOCKS request within {0} s")]
    Quiet(u64),
    /// A program asked by SOCKS for something that this end does not do.
    #[error(transparent)]
    Socks(#[from] SocksError),
    /// A connection to the address for redirected ones was not redirected.
    #[error(
        "the connection was not redirected: the firewall redirects connections here, and programs do \
         not connect here themselves"
    )]
    NotRedirected,
    /// The firewall redirected a connection of this tunnel to its listening end.
    #[error(
        "the firewall redirects this tunnel's own connections to {0}: exclude that address, or the \
         user that the tunnel runs as, from its rule"
    )]
    OwnConnection(String),
    /// This end refused the request of the other end.
    #[error("refused: {0}")]
    Refusing(Refusal),
    /// The tunnel was closed while the connection was open.
    #[error("the tunnel was closed")]
    Closed,
}
