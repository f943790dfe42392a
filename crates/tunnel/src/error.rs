//! What can go wrong with a tunnel, in words for whoever runs it.

use std::io;
use std::path::PathBuf;

use groupwire_ace::SettingsError;

use crate::preface::Refusal;

/// Why a tunnel's end cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {cause}")]
    Listen {
        /// The address.
        address: String,
        /// What the system says.
        cause: io::Error,
    },
    /// A file cannot be read.
    #[error("cannot read {}: {cause}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        cause: io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write {}: {cause}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        cause: io::Error,
    },
    /// A file is not what it should be.
    #[error("{} {why}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// TLS cannot be set up with what was given.
    #[error("TLS cannot be set up: {0}")]
    Tls(String),
    /// The process may not open as many files as it needs.
    #[error(
        "{connections} connections need {needed} open files, and this process may open {limit}: \
         raise the limit (ulimit -n {needed}) or allow fewer connections"
    )]
    OpenFiles {
        /// Connections that were asked for.
        connections: usize,
        /// Files that they need.
        needed: u64,
        /// What the system allows.
        limit: u64,
    },
    /// This build cannot do what is asked of it.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// A token that is too long: so many bytes.
    #[error("a token has at most 255 bytes, not {0}")]
    Token(usize),
    /// Something that is left open must not be, where others can reach it.
    #[error("{0} is for this machine alone: listen on a loopback address, or leave it out")]
    NotLoopback(&'static str),
}

/// Why a connection through the tunnel ended otherwise than by both programs' ends.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectionError {
    /// There is nobody at the other end's address, or no way to it.
    #[error("cannot reach the tunnel at {address}: {cause}")]
    Reach {
        /// The address.
        address: String,
        /// What the system says.
        cause: io::Error,
    },
    /// The other end was reached, and did not answer in time.
    #[error("the other end of the tunnel did not answer within {0} s")]
    Silent(u64),
    /// The other end speaks no TLS, or not with us.
    #[error("no TLS with {peer}: {why}")]
    Tls {
        /// Its address.
        peer: String,
        /// What is wrong, and what may be the reason.
        why: String,
    },
    /// The other end speaks TLS and is no tunnel.
    #[error("{0} is no groupwire tunnel")]
    NoTunnel(String),
    /// The other end says no.
    #[error("the other end of the tunnel refused: {0}")]
    Refused(#[from] Refusal),
    /// The connection between both ends failed, or what came by it is wrong.
    #[error("the connection to the other end of the tunnel failed: {0}")]
    Tunnel(#[source] io::Error),
    /// The program's connection failed.
    #[error("the program's connection failed: {0}")]
    Program(#[source] io::Error),
    /// Streams cannot be made with these settings.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// We refused the other end.
    #[error("refused: {0}")]
    Refusing(Refusal),
    /// The tunnel is being closed.
    #[error("the tunnel was closed")]
    Closed,
}
