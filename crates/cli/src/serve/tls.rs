//! The options of TLS: where the certificate comes from.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use groupwire_server::{Certificate, CertificateConfig, CertificateError};

/// The options of TLS.
#[derive(Debug, Args)]
pub(crate) struct TlsArgs {
    /// A PEM file with the server's certificate and its intermediate certificates, read again when it changes. With it
    /// --listen is HTTPS (HTTP/2 and HTTP/1.1, WebSocket over TLS), and WebTransport uses it. Default: --listen is plain
    /// HTTP, and the server makes a certificate for WebTransport, which clients pin.
    #[arg(long, value_name = "FILE", requires = "key")]
    cert: Option<PathBuf>,

    /// A PEM file with the certificate's private key.
    #[arg(long, value_name = "FILE", requires = "cert")]
    key: Option<PathBuf>,

    /// A further address of plain HTTP beside HTTPS, for a reverse proxy or a health check on this machine. Default: none.
    #[arg(long, value_name = "ADDRESS:PORT", requires = "cert")]
    pub(super) plain_listen: Option<SocketAddr>,
}

impl TlsArgs {
    /// The configuration of the certificate.
    pub(super) fn config(&self) -> CertificateConfig {
        let source = match (&self.cert, &self.key) {
            (Some(cert), Some(key)) => Certificate::Files { cert: cert.clone(), key: key.clone() },
            _ => Certificate::Own,
        };
        CertificateConfig { source, ..CertificateConfig::default() }
    }
}

/// What the user can do about a certificate that cannot be used.
pub(super) fn advice(error: &CertificateError) -> &'static str {
    match error {
        CertificateError::OtherKey { .. } | CertificateError::Unusable { .. } => {
            "\n--cert and --key must name a certificate and its own private key. Without both options the \
             server uses plain HTTP."
        }
        _ => {
            "\n--cert and --key must name two PEM files that this user may read: the certificate, and its \
             private key. Without both options the server uses plain HTTP."
        }
    }
}
