//! The configuration of WebTransport.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::certificate::Certificate;
use super::offer::WallClock;

/// The configuration of WebTransport.
#[derive(Clone)]
pub struct WebTransportConfig {
    /// The UDP address. By default the address and port of HTTP; if HTTP listens on port 0, any free port.
    pub listen: Option<SocketAddr>,
    /// The certificate of the server.
    pub certificate: Certificate,
    /// How often the server checks whether the certificate's files have changed, or whether it is due for renewal.
    pub check_interval: Duration,
    /// The clock for the validity of certificates.
    pub clock: WallClock,
}

impl Default for WebTransportConfig {
    fn default() -> Self {
        WebTransportConfig {
            listen: None,
            certificate: Certificate::default(),
            check_interval: Duration::from_secs(30),
            clock: Arc::new(SystemTime::now),
        }
    }
}
