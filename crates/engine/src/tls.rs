//! How the caller checks the service's certificate, and shows its own.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};

use crate::{OpenError, Tls};

/// What rustls needs for the options.
pub(crate) fn config(tls: &Tls) -> Result<ClientConfig, OpenError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| OpenError::Options(format!("TLS: {error}")))?
        .with_root_certificates(roots(tls.roots.as_deref())?);
    let Some((certificate, key)) = &tls.identity else {
        return Ok(builder.with_no_client_auth());
    };
    let private =
        PrivateKeyDer::from_pem_file(key).map_err(|error| wrong(key, error.to_string()))?;
    builder
        .with_client_auth_cert(certificates(certificate)?, private)
        .map_err(|error| wrong(key, format!("does not fit the certificate: {error}")))
}

/// True if the text of an error of a connection tells of TLS: services do not always say so
/// otherwise.
pub(crate) fn is_about(cause: &str) -> bool {
    ["TLS", "certificate", "fatal alert"].iter().any(|word| cause.contains(word))
}

fn roots(path: Option<&Path>) -> Result<RootCertStore, OpenError> {
    let mut roots = RootCertStore::empty();
    match path {
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
        Some(path) => {
            for certificate in certificates(path)? {
                roots.add(certificate).map_err(|error| wrong(path, error.to_string()))?;
            }
        }
    }
    Ok(roots)
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, OpenError> {
    let found = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| wrong(path, error.to_string()))?;
    if found.is_empty() { Err(wrong(path, "has no certificate".into())) } else { Ok(found) }
}

fn wrong(path: &Path, why: String) -> OpenError {
    OpenError::File { path: PathBuf::from(path), why }
}
