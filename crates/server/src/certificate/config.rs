//! Where the server's certificate comes from.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::acme::config::AcmeConfig;

/// A wall clock, which tests can set.
pub type WallClock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// Where the server's certificate comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Certificate {
    /// The server makes a certificate for WebTransport, and a new one before it expires; HTTP is
    /// not encrypted. Clients pin the certificate by the hash that `GET /transports` answers (T4,
    /// T7), so they have to trust that answer: on the same machine, in a trusted network, or over
    /// HTTPS of a proxy.
    #[default]
    Own,
    /// PEM files, which are read again when they change. With them HTTP and WebSocket are
    /// encrypted, too.
    Files {
        /// The certificate, followed by its intermediate certificates in order.
        cert: PathBuf,
        /// The private key: PKCS#8, PKCS#1 or SEC1.
        key: PathBuf,
    },
    /// The server orders a certificate from an authority by ACME, and renews it. HTTP and WebSocket
    /// are encrypted, too. Until the first certificate is there, handshakes of TLS are refused.
    Acme(AcmeConfig),
}

/// The configuration of the server's certificate.
#[derive(Clone)]
pub struct CertificateConfig {
    /// Where it comes from.
    pub source: Certificate,
    /// How often the server checks whether the certificate's files have changed, or whether it is
    /// due for renewal.
    pub check_interval: Duration,
    /// The clock for the validity of certificates.
    pub clock: WallClock,
}

impl Default for CertificateConfig {
    fn default() -> Self {
        CertificateConfig {
            source: Certificate::default(),
            check_interval: Duration::from_secs(30),
            clock: Arc::new(SystemTime::now),
        }
    }
}

impl CertificateConfig {
    /// True if HTTP is encrypted: clients can check a certificate from files or of an authority,
    /// but not one that the server made.
    pub(crate) fn encrypts_http(&self) -> bool {
        !matches!(self.source, Certificate::Own)
    }
}
