//! The configuration of a server that shares its rooms with others.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use axum::http::Uri;
use groupwire_engine::Engine;
use groupwire_session::limits::MAX_OWNER_ADDRESS;

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
    /// The address at which clients reach the HTTP of this server alone, such as
    /// `https://gw-0.example.com`. Clients of other servers whose rooms this one has connect there.
    /// `None`: other servers pass their packets on.
    pub client_address: Option<ClientAddress>,
    /// The file with the secret of the cluster.
    pub secret: PathBuf,
    /// Patterns of the names of large rooms: this server mirrors those that another one has,
    /// instead of passing their clients on. All servers have the same.
    pub large: Vec<String>,
}

/// The address at which clients reach one server of a cluster alone.
///
/// ```
/// use groupwire_server::ClientAddress;
///
/// let address: ClientAddress = "https://gw-0.example.com".parse()?;
/// assert_eq!(address.as_str(), "https://gw-0.example.com");
/// assert!("gw-0.example.com".parse::<ClientAddress>().is_err());
/// # Ok::<(), groupwire_server::ClientAddressError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientAddress(String);

impl ClientAddress {
    /// The address, without a `/` at its end.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The address of a server for clients is malformed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "write the address as https://HOST or https://HOST:PORT, of at most {MAX_OWNER_ADDRESS} bytes, \
     with http only where clients are not encrypted"
)]
pub struct ClientAddressError;

impl FromStr for ClientAddress {
    type Err = ClientAddressError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim_end_matches('/');
        let uri: Uri = text.parse().map_err(|_| ClientAddressError)?;
        let has_scheme = matches!(uri.scheme_str(), Some("https" | "http"));
        let authority = uri.authority().map_or("", |authority| authority.as_str());
        let is_right = has_scheme
            && !authority.is_empty()
            && !authority.contains('@')
            && uri.query().is_none()
            && !text.contains('#')
            && text.len() <= MAX_OWNER_ADDRESS;
        is_right.then(|| ClientAddress(text.to_owned())).ok_or(ClientAddressError)
    }
}

impl fmt::Debug for ClusterConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ClusterConfig { node, listen, advertise, client_address, secret, large, .. } = self;
        f.debug_struct("ClusterConfig")
            .field("node", node)
            .field("listen", listen)
            .field("advertise", advertise)
            .field("client_address", client_address)
            .field("secret", secret)
            .field("large", large)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_for_clients_has_a_scheme_and_a_host() {
        let read = |text: &str| text.parse::<ClientAddress>().map(|address| address.0);
        assert_eq!(read("https://gw-0.example/"), Ok("https://gw-0.example".to_owned()));
        assert_eq!(read("http://[::1]:8080/base"), Ok("http://[::1]:8080/base".to_owned()));
        let long = format!("https://{}", "a".repeat(300));
        for wrong in [
            "",
            "gw-0",
            "gw-0:80",
            "wss://gw-0",
            "https://",
            "https://u@gw-0",
            "https://gw-0?x",
            "https://gw-0#x",
            &long,
        ] {
            assert_eq!(read(wrong), Err(ClientAddressError), "{wrong}");
        }
    }
}
