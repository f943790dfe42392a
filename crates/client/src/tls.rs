//! TLS of a client: over TCP for WebSocket, and within QUIC for WebTransport.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use groupwire_quic::wtransport::tls::build_native_cert_store;
use groupwire_quic::wtransport::tls::client::{ServerHashVerification, build_default_tls_config};
use tokio_rustls::rustls::client::Resumption;
use tokio_rustls::rustls::client::danger::ServerCertVerifier;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::error::DialError;
use crate::trust::Pins;

/// The size of rustls's cache of sessions. rustls rounds it up to one server, for which it keeps up
/// to eight tickets.
const SESSIONS: usize = 2;

/// The TLS configurations of a room. The newest one is kept with its sessions, so that a client
/// that reconnects can resume a session: neither the client nor the server then computes
/// signatures.
#[derive(Debug, Default)]
pub(crate) struct TlsConfigs(Mutex<Option<Kept>>);

#[derive(Debug)]
struct Kept {
    pins: Pins,
    /// The content of the file of root certificates; empty if there is none.
    roots: Vec<u8>,
    config: Arc<ClientConfig>,
}

impl TlsConfigs {
    /// The TLS 1.3 configuration for a client that offers `protocol`, which must be the same for
    /// all calls in a room. A file of root certificates is read at each call; if it has changed,
    /// the sessions are forgotten.
    ///
    /// # Errors
    /// [`DialError::Roots`] if the file of root certificates cannot be used.
    pub(crate) fn config(
        &self,
        pins: Pins,
        protocol: &[u8],
    ) -> Result<Arc<ClientConfig>, DialError> {
        let roots = match &pins {
            Pins::File(path) => {
                std::fs::read(path).map_err(|error| wrong(path, error.to_string()))?
            }
            Pins::Roots | Pins::Hashes(_) => Vec::new(),
        };
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = kept.as_ref().filter(|kept| kept.pins == pins && kept.roots == roots) {
            debug_assert_eq!(kept.config.alpn_protocols, [protocol], "a room offers one protocol");
            return Ok(Arc::clone(&kept.config));
        }
        let config = Arc::new(config(&pins, &roots, protocol)?);
        *kept = Some(Kept { pins, roots, config: Arc::clone(&config) });
        Ok(config)
    }
}

fn config(pins: &Pins, roots: &[u8], protocol: &[u8]) -> Result<ClientConfig, DialError> {
    let (roots, verifier) = match pins {
        Pins::Roots => (build_native_cert_store(), None),
        Pins::File(path) => (parse_roots(path, roots)?, None),
        Pins::Hashes(hashes) => {
            let hashes = ServerHashVerification::new(hashes.iter().map(|hash| (*hash).into()));
            let verifier: Arc<dyn ServerCertVerifier> = Arc::new(hashes);
            (RootCertStore::empty(), Some(verifier))
        }
    };
    let mut config = build_default_tls_config(Arc::new(roots), verifier);
    config.alpn_protocols = vec![protocol.to_vec()];
    config.resumption = Resumption::in_memory_sessions(SESSIONS);
    Ok(config)
}

fn parse_roots(path: &Path, text: &[u8]) -> Result<RootCertStore, DialError> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(text) {
        let certificate = certificate.map_err(|error| wrong(path, error.to_string()))?;
        roots.add(certificate).map_err(|error| wrong(path, error.to_string()))?;
    }
    match roots.is_empty() {
        true => Err(wrong(path, "it contains no certificate in PEM format".to_owned())),
        false => Ok(roots),
    }
}

fn wrong(path: &Path, why: String) -> DialError {
    DialError::Roots { path: path.to_owned(), why }
}

#[cfg(test)]
mod tests {
    use wtransport::Identity;

    use super::*;

    #[test]
    fn a_configuration_is_kept_with_its_sessions_until_what_is_trusted_changes() {
        let name = format!("groupwire-roots-{}.pem", std::process::id());
        let path = std::env::temp_dir().join(name);
        let write = || {
            let identity = Identity::self_signed(["localhost"]).unwrap();
            std::fs::write(&path, identity.certificate_chain().as_slice()[0].to_pem()).unwrap();
        };
        let configs = TlsConfigs::default();
        let config = |pins| configs.config(pins, b"http/1.1").unwrap();
        write();
        let first = config(Pins::File(path.clone()));
        assert!(Arc::ptr_eq(&first, &config(Pins::File(path.clone()))));
        write();
        let second = config(Pins::File(path.clone()));
        assert!(!Arc::ptr_eq(&first, &second), "the file has changed");
        let pinned = config(Pins::Hashes(vec![[1; 32]]));
        assert!(!Arc::ptr_eq(&second, &pinned));
        assert!(Arc::ptr_eq(&pinned, &config(Pins::Hashes(vec![[1; 32]]))));
        assert!(!Arc::ptr_eq(&pinned, &config(Pins::Hashes(vec![[2; 32]]))));
        std::fs::remove_file(&path).unwrap();
        assert!(configs.config(Pins::File(path.clone()), b"http/1.1").is_err());
    }
}
