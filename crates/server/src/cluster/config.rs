//! The configuration of a server that shares its rooms with others.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use groupwire_engine::Engine;

/// How a server takes part in a cluster. All servers of a cluster use the same engine, and have the
/// same secret.
#[derive(Clone)]
pub struct ClusterConfig {
    /// The engine, which keeps the logs of rooms.
    pub engine: Arc<dyn Engine>,
    /// The name of this server, which no other one has. It stays the same after a restart.
    pub node: String,
    /// The TCP address to listen on for the other servers.
    pub listen: SocketAddr,
    /// The host and port by which the other servers reach this one.
    pub advertise: String,
    /// The file with the secret of the cluster.
    pub secret: PathBuf,
}

impl fmt::Debug for ClusterConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ClusterConfig { node, listen, advertise, secret, .. } = self;
        f.debug_struct("ClusterConfig")
            .field("node", node)
            .field("listen", listen)
            .field("advertise", advertise)
            .field("secret", secret)
            .finish_non_exhaustive()
    }
}
