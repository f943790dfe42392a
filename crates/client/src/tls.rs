//! TLS of a client: over TCP for WebSocket, and within QUIC for WebTransport.

use std::path::Path;
use std::sync::Arc;

use groupwire_quic::wtransport::tls::build_native_cert_store;
use groupwire_quic::wtransport::tls::client::{ServerHashVerification, build_default_tls_config};
use tokio_rustls::rustls::client::danger::ServerCertVerifier;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::error::DialError;
use crate::trust::Pins;

/// The configuration of TLS 1.3 for a client that offers this protocol.
///
/// # Errors
/// [`DialError::Roots`] if the file of root certificates cannot be used.
pub(crate) fn config(pins: &Pins, protocol: &[u8]) -> Result<ClientConfig, DialError> {
    let (roots, verifier) = match pins {
        Pins::Roots => (build_native_cert_store(), None),
        Pins::File(path) => (read_roots(path)?, None),
        Pins::Hashes(hashes) => {
            let hashes = ServerHashVerification::new(hashes.iter().map(|hash| (*hash).into()));
            let verifier: Arc<dyn ServerCertVerifier> = Arc::new(hashes);
            (RootCertStore::empty(), Some(verifier))
        }
    };
    let mut config = build_default_tls_config(Arc::new(roots), verifier);
    config.alpn_protocols = vec![protocol.to_vec()];
    Ok(config)
}

fn read_roots(path: &Path) -> Result<RootCertStore, DialError> {
    let wrong = |why: String| DialError::Roots { path: path.to_owned(), why };
    let text = std::fs::read(path).map_err(|error| wrong(error.to_string()))?;
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(&text) {
        let certificate = certificate.map_err(|error| wrong(error.to_string()))?;
        roots.add(certificate).map_err(|error| wrong(error.to_string()))?;
    }
    match roots.is_empty() {
        true => Err(wrong("it contains no certificate in PEM format".to_owned())),
        false => Ok(roots),
    }
}
