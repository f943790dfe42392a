//! The errors of a server.

use std::net::SocketAddr;
use std::path::PathBuf;

mod certificate;

pub use certificate::CertificateError;

/// Why a server cannot start or continue.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another socket of this machine already listens on the address, most likely that of another
    /// server.
    #[error("cannot listen on {listen}: {source}")]
    AddressInUse {
        /// The address: [`Config::listen`](crate::Config::listen),
        /// [`Config::plain_listen`](crate::Config::plain_listen),
        /// [`Config::socket`](crate::Config::socket) or that of
        /// [`Config::admin`](crate::Config::admin).
        listen: SocketAddr,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The server cannot listen on the address for another reason: it is not an address of this
    /// machine, or the process lacks the permission.
    #[error("cannot listen on {listen}: {source}")]
    Listen {
        /// The address: [`Config::listen`](crate::Config::listen),
        /// [`Config::plain_listen`](crate::Config::plain_listen),
        /// [`Config::socket`](crate::Config::socket) or that of
        /// [`Config::admin`](crate::Config::admin).
        listen: SocketAddr,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// A text was given as the address of the administration listener, but is none.
    #[error(
        "{text:?} is no address to listen on: write 127.0.0.1:9090, or unix:PATH for a Unix socket"
    )]
    AdminListen {
        /// The text.
        text: String,
    },
    /// Other machines could reach the administration listener, and there is no token for it.
    #[error(
        "the administration listener at {listen} needs a token, because other machines may reach it"
    )]
    AdminToken {
        /// The address.
        listen: SocketAddr,
    },
    /// The Unix socket of the administration listener cannot be made.
    #[error("cannot listen on the Unix socket {}: {source}", path.display())]
    AdminSocket {
        /// The path of the socket.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// A text was given as the origin of web pages, but is not an origin.
    #[error(
        "{origin:?} is not an origin: write scheme, host and port, such as https://example.org"
    )]
    Origin {
        /// The text.
        origin: String,
    },
    /// The name is not that of a codec.
    #[error("there is no codec {name:?}; there are: {known}, and all")]
    Codec {
        /// The name.
        name: String,
        /// The names of all codecs, with commas between.
        known: String,
    },
    /// The folder of stored rooms cannot be used.
    #[error(transparent)]
    Store(#[from] groupwire_store::OpenError),
    /// The server cannot take part in its cluster.
    #[error("{0}")]
    Cluster(String),
    /// A server of a cluster has no folder for its copy of the stored rooms.
    #[error("a server of a cluster needs a folder for its copy of the stored rooms")]
    ClusterWithoutFolder,
    /// A rule says of rooms that they are stored in a way that this server does not have.
    #[error("{0}")]
    Modes(String),
    /// The place of the running server cannot be taken. That server goes on.
    #[error("cannot take the place of the server that uses {}, which goes on: {source}", folder.display())]
    Upgrade {
        /// The folder of stored rooms.
        folder: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The place of a running server is to be taken, and no folder of stored rooms says of which.
    #[error(
        "no folder of stored rooms says whose place is to be taken: a server is asked over the socket in its folder"
    )]
    UpgradeWithoutFolder,
    /// The place of a running server of a cluster is to be taken.
    #[error(
        "a server of a cluster is not replaced in place: stop it, which hands its rooms to the others, and start the new one"
    )]
    UpgradeInCluster,
    /// The file of bans cannot be read.
    #[error(
        "the bans in {} cannot be read: {reason}. Restore the file; without it, whoever was banned may join again",
        path.display()
    )]
    Bans {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// Writing to the store failed. Nothing is confirmed any more; the server has to be started
    /// again, which recovers what was confirmed.
    #[error(
        "the store failed, so that nothing is confirmed any more: {reason}. Look whether the disk works and can be \
         written, and start the server again: it recovers what was confirmed"
    )]
    StoreFailed {
        /// What the operating system or the database said.
        reason: String,
    },
    /// The certificate cannot be used.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
}
