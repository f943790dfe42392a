//! Why a certificate cannot be used.

use std::path::PathBuf;

/// Why a certificate cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CertificateError {
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// A file has no usable content of the expected kind.
    #[error("{} contains no {due} in PEM format: {why}", path.display())]
    Pem {
        /// The file.
        path: PathBuf,
        /// The expected content.
        due: &'static str,
        /// The reason.
        why: String,
    },
    /// The private key is encrypted with a passphrase.
    #[error(
        "the private key in {path} is encrypted with a passphrase, which the server does not have; \
         `openssl pkey -in {path} -out NEW` writes it without one", path = path.display()
    )]
    Encrypted {
        /// The file.
        path: PathBuf,
    },
    /// The key is that of another certificate.
    #[error(
        "the private key in {} does not fit the certificate in {}: it is that of another certificate",
        key.display(), cert.display()
    )]
    OtherKey {
        /// The file of the certificate.
        cert: PathBuf,
        /// The file of the key.
        key: PathBuf,
    },
    /// The folder for certificates by ACME cannot be used.
    #[error(
        "the folder {} for certificates by ACME cannot be used: {source}; let this user write it, or name another one",
        path.display()
    )]
    AcmeFolder {
        /// The folder.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The certificates that are to be trusted when an ACME directory is asked cannot be used.
    #[error("no ACME directory can be trusted: {why}")]
    AcmeRoot {
        /// The reason.
        why: String,
    },
    /// The certificate or the key is of a kind that TLS cannot use.
    #[error("this certificate and key cannot be used: {why}")]
    Unusable {
        /// The reason.
        why: String,
    },
}
