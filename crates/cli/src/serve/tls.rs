//! The options of TLS: where the certificate comes from.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::Args;
use groupwire_server::{AcmeDomain, Certificate, CertificateConfig, CertificateError};

use super::acme::AcmeArgs;

/// The group of options with which --listen is encrypted.
pub(super) const ENCRYPTED: &str = "encrypted";

/// The options of TLS.
#[derive(Debug, Args)]
pub(crate) struct TlsArgs {
    /// A PEM file with the server's certificate and its intermediate certificates, read again when
    /// it changes. With it --listen is HTTPS (HTTP/2 and HTTP/1.1, WebSocket over TLS), and
    /// WebTransport uses it. Default: --listen is plain HTTP, and the server makes a certificate
    /// for WebTransport, which clients pin. --acme orders one instead.
    #[arg(long, value_name = "FILE", requires = "key", group = ENCRYPTED)]
    cert: Option<PathBuf>,

    /// A PEM file with the certificate's private key.
    #[arg(long, value_name = "FILE", requires = "cert")]
    key: Option<PathBuf>,

    #[command(flatten)]
    acme: AcmeArgs,

    /// A further address of plain HTTP beside HTTPS, for a reverse proxy or a health check on this
    /// machine. Default: none.
    #[arg(long, value_name = "ADDRESS:PORT", requires = ENCRYPTED)]
    pub(super) plain_listen: Option<SocketAddr>,
}

impl TlsArgs {
    /// The first name of a certificate that is ordered.
    pub(super) fn name(&self) -> Option<AcmeDomain> {
        self.acme.name()
    }

    /// The configuration of the certificate. `data` is the folder of stored rooms, `root` a
    /// certificate that is trusted at the address of an ACME directory, beside the system's.
    pub(super) fn config(&self, data: Option<&Path>, root: Option<&Path>) -> CertificateConfig {
        let source = match (&self.cert, &self.key, self.acme.config(data, root)) {
            (Some(cert), Some(key), _) => {
                Certificate::Files { cert: cert.clone(), key: key.clone() }
            }
            (_, _, Some(acme)) => Certificate::Acme(acme),
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
        CertificateError::AcmeFolder { .. } => "\n--acme-folder names another folder.",
        CertificateError::AcmeRoot { .. } => {
            "\n--trusted-root must name a PEM file with certificates that this user may read."
        }
        _ => {
            "\n--cert and --key must name two PEM files that this user may read: the certificate, and its \
             private key. Without both options the server uses plain HTTP."
        }
    }
}
