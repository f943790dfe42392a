//! Options of a deployment that is opened.

use std::path::PathBuf;
use std::time::Duration;

/// How to open a deployment.
#[derive(Debug, Clone)]
pub struct Options {
    /// The name of the deployment: 1 to 48 ASCII letters, digits, `-` and `_`. A service can keep
    /// several deployments, which do not see each other.
    pub cluster: String,
    /// The number of shards, fixed at creation. Logs `0..shards` are theirs, and the log `shards`
    /// is the control log.
    pub shards: u16,
    /// The newest version of log records that the caller reads. A deployment with a newer one is
    /// not opened. A deployment that is created has this one.
    pub log_version: u16,
    /// Whether a deployment that is not there is created.
    pub creates: bool,
    /// A file with a credential. For NATS a file of `nsc` (`.creds`), or user and password in two
    /// lines; for PostgreSQL the same two lines, or the password alone, for the user in the URL.
    pub credentials: Option<PathBuf>,
    /// TLS towards the service.
    pub tls: Tls,
    /// Replicas of the streams of NATS, when they are created. `None` takes 3 if the server belongs
    /// to a cluster, otherwise 1. PostgreSQL ignores it.
    pub replicas: Option<u8>,
    /// Addresses of the monitoring of NATS servers, such as `http://nats-0:8222`, for
    /// [`durability`](crate::Engine::durability). If there are none, port 8222 of each known server
    /// is asked.
    pub monitoring: Vec<String>,
    /// The time after which an append without an answer is [`Unknown`](crate::Appended::Unknown),
    /// and other requests are [`Unavailable`](crate::Unavailable).
    pub patience: Duration,
}

impl Options {
    /// The options of a deployment with 64 shards that has to be there already.
    pub fn new(cluster: impl Into<String>) -> Self {
        Self {
            cluster: cluster.into(),
            shards: 64,
            log_version: 1,
            creates: false,
            credentials: None,
            tls: Tls::default(),
            replicas: None,
            monitoring: Vec::new(),
            // The time in which clients are told that their room cannot confirm anything.
            patience: Duration::from_secs(5),
        }
    }
}

/// TLS towards the service. The server's certificate is always checked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tls {
    /// A PEM file with the authorities that are trusted instead of those of the system.
    pub roots: Option<PathBuf>,
    /// PEM files with a certificate for the caller and with its key.
    pub identity: Option<(PathBuf, PathBuf)>,
}
