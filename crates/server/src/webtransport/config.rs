//! The configuration of WebTransport.

use std::net::SocketAddr;

/// The configuration of WebTransport, whose certificate is that of
/// [`Config::certificate`](crate::Config::certificate).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WebTransportConfig {
    /// The UDP address. By default the address and port of HTTP; if HTTP listens on port 0, any
    /// free port.
    pub listen: Option<SocketAddr>,
}
