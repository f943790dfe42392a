//! Certificates: made by the server itself or read from files, and checked before use. Rules such as *T7* are those of
//! docs/transports.md.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use wtransport::Identity;
use wtransport::tls::rustls::crypto::ring;
use wtransport::tls::rustls::pki_types::pem::PemObject;
use wtransport::tls::rustls::pki_types::{CertificateDer, PrivateKeyDer, pem};
use wtransport::tls::rustls::{self, ServerConfig};
use wtransport::tls::self_signed::time::OffsetDateTime;
use wtransport::tls::{WEBTRANSPORT_ALPN, server::build_default_tls_config};
use x509_parser::certificate::X509Certificate;
use x509_parser::prelude::FromDer;

/// Where the server's certificate comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Certificate {
    /// The server makes a certificate, and a new one before it expires. Clients pin it by the hash that `GET
    /// /transports` answers (T4, T7), so they have to trust that answer: on the same machine, in a trusted network, or
    /// over HTTPS.
    #[default]
    Own,
    /// PEM files, which are read again when they change.
    Files {
        /// The certificate, followed by its intermediate certificates in order.
        cert: PathBuf,
        /// The private key: PKCS#8, PKCS#1 or SEC1.
        key: PathBuf,
    },
}

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
        /// What is wrong.
        why: String,
    },
    /// The key is not that of the certificate, or they cannot be used with TLS 1.3.
    #[error("this certificate and key cannot be used together: {why}")]
    Unusable {
        /// What is wrong.
        why: String,
    },
}

/// Validity of a certificate that the server makes: browsers accept no more for a pinned certificate (T7).
const LIFE_DAYS: u32 = 14;

/// A new certificate is valid from this time before it was made, so that clients whose clock is slow accept it.
const BACKDATED: Duration = Duration::from_secs(3600);

/// How long the server uses a certificate that it made (T7).
const SERVES: Duration = Duration::from_secs(10 * 24 * 3600);

/// A certificate that is ready for use.
pub(super) struct Served {
    pub(super) tls: ServerConfig,
    pub(super) facts: Facts,
}

/// What the server has to know about the certificate in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Facts {
    /// SHA-256 of the certificate, if clients have to pin it.
    pub(super) hash: Option<[u8; 32]>,
    /// Beginning of the validity, in seconds since 1970.
    not_before: i64,
    /// End of the validity, in seconds since 1970.
    not_after: i64,
    /// When the server makes the next certificate; `None` if it is from files.
    renew: Option<i64>,
}

impl Facts {
    pub(super) fn is_due(&self, now: SystemTime) -> bool {
        self.renew.is_some_and(|renew| seconds(now) >= renew)
    }

    /// Why clients refuse the certificate; `None` if they accept it.
    pub(super) fn objection(&self, now: SystemTime) -> Option<&'static str> {
        match seconds(now) {
            now if now < self.not_before => Some("is not valid yet"),
            now if now > self.not_after => Some("has expired"),
            _ => None,
        }
    }
}

/// Makes a certificate (T7). `host` is a name, besides localhost, by which clients may address the server.
pub(super) fn make(now: SystemTime, host: IpAddr) -> Result<Served, CertificateError> {
    let unusable = |why: String| CertificateError::Unusable { why };
    let from = OffsetDateTime::from(now - BACKDATED);
    let identity = Identity::self_signed_builder()
        .subject_alt_names(["localhost".to_owned(), host.to_string()])
        .not_before(from)
        .validity_days(LIFE_DAYS)
        .build()
        .map_err(|error| unusable(error.to_string()))?;
    let leaf = identity.certificate_chain().as_slice().first();
    let leaf = leaf.ok_or_else(|| unusable("it was not made".to_owned()))?;
    let (not_before, not_after) = validity(leaf.der()).map_err(unusable)?;
    let renew = Some(seconds(now + SERVES));
    let facts = Facts { hash: Some(*leaf.hash().as_ref()), not_before, not_after, renew };
    Ok(Served { tls: build_default_tls_config(identity), facts })
}

/// Reads a certificate and its key. An expired one is no error: see [`Facts::objection`].
pub(super) fn load(cert: &Path, key: &Path) -> Result<Served, CertificateError> {
    let wrong =
        |path: &Path, due, why: String| CertificateError::Pem { path: path.to_owned(), due, why };
    let in_words = |error: pem::Error| match error {
        pem::Error::NoItemsFound => "none found".to_owned(),
        error => error.to_string(),
    };
    let chain: Vec<_> = CertificateDer::pem_slice_iter(&read(cert)?)
        .collect::<Result<_, _>>()
        .map_err(|error| wrong(cert, "certificates", in_words(error)))?;
    let leaf = chain.first();
    let leaf = leaf.ok_or_else(|| wrong(cert, "certificate", "none found".to_owned()))?;
    let (not_before, not_after) =
        validity(leaf).map_err(|why| wrong(cert, "certificate that can be read", why))?;
    let secret = PrivateKeyDer::from_pem_slice(&read(key)?)
        .map_err(|error| wrong(key, "private key", in_words(error)))?;
    let tls = tls(chain, secret)
        .map_err(|error| CertificateError::Unusable { why: error.to_string() })?;
    Ok(Served { tls, facts: Facts { hash: None, not_before, not_after, renew: None } })
}

/// Makes the TLS configuration. Returns an error, where the library's own function panics, if the key is that of
/// another certificate.
fn tls(
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> Result<ServerConfig, rustls::Error> {
    let mut tls = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    tls.alpn_protocols = vec![WEBTRANSPORT_ALPN.to_vec()];
    Ok(tls)
}

fn validity(der: &[u8]) -> Result<(i64, i64), String> {
    let (_, leaf) = X509Certificate::from_der(der).map_err(|error| error.to_string())?;
    let validity = leaf.validity();
    Ok((validity.not_before.timestamp(), validity.not_after.timestamp()))
}

fn read(path: &Path) -> Result<Vec<u8>, CertificateError> {
    std::fs::read(path).map_err(|source| CertificateError::Read { path: path.to_owned(), source })
}

fn seconds(time: SystemTime) -> i64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_secs(24 * 3600);

    #[test]
    fn t7_a_certificate_of_the_server_can_be_pinned_and_is_renewed_in_time() {
        let now = SystemTime::now();
        let served = make(now, IpAddr::from([127, 0, 0, 1])).unwrap();
        let facts = served.facts;
        assert!(facts.hash.is_some());
        assert_eq!(facts.not_after - facts.not_before, 14 * 24 * 3600);
        assert_eq!(facts.objection(now), None);
        assert!(!facts.is_due(now + 9 * DAY));
        assert!(facts.is_due(now + 10 * DAY));
        assert_eq!(facts.objection(now + 13 * DAY), None);
        assert_eq!(facts.objection(now + 15 * DAY), Some("has expired"));
        assert_eq!(facts.objection(now - DAY), Some("is not valid yet"));
        let again = make(now, IpAddr::from([127, 0, 0, 1])).unwrap();
        assert_ne!(facts.hash, again.facts.hash);
    }
}
