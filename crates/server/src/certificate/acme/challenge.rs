//! Proofs that a name leads to this server: certificates that answer an authority's challenge in a
//! TLS handshake (RFC 8737, TLS-ALPN-01). They are served at the encrypted listener beside the
//! certificate that clients get.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use instant_acme::KeyAuthorization;
use rcgen::{CertificateParams, CustomExtension, KeyPair};
use tokio_rustls::rustls::crypto::ring::sign::any_supported_type;
use tokio_rustls::rustls::pki_types::PrivatePkcs8KeyDer;
use tokio_rustls::rustls::server::ClientHello;
use tokio_rustls::rustls::sign::CertifiedKey;

/// The ALPN protocol name of the challenge.
pub(crate) const ACME_TLS: &[u8] = b"acme-tls/1";

/// The certificates that answer the challenges of the present order, by the name in the challenge.
#[derive(Default)]
pub(crate) struct Challenges(Mutex<HashMap<String, Arc<CertifiedKey>>>);

/// Keeps the answers to challenges until it is dropped.
pub(super) struct Answering<'a>(&'a Challenges);

impl Challenges {
    /// True if the handshake is an authority's challenge: it offers the protocol `acme-tls/1`
    /// alone.
    pub(crate) fn is_question(hello: &ClientHello<'_>) -> bool {
        let mut protocols = hello.alpn().into_iter().flatten();
        protocols.next() == Some(ACME_TLS) && protocols.next().is_none()
    }

    /// The answer to the challenge for a name; `None` if none is prepared.
    pub(crate) fn answer(&self, hello: &ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.lock().get(hello.server_name()?).cloned()
    }

    /// Begins an order's answers, which are removed when the result is dropped.
    pub(super) fn begin(&self) -> Answering<'_> {
        Answering(self)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<CertifiedKey>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Challenges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Challenges")
    }
}

impl Answering<'_> {
    /// Answers the challenge for a name from now on.
    ///
    /// # Errors
    /// The answer cannot be made.
    pub(super) fn add(&self, domain: &str, proof: &KeyAuthorization) -> Result<(), String> {
        let answer = make(domain, proof.digest().as_ref())?;
        self.0.lock().insert(domain.to_owned(), Arc::new(answer));
        Ok(())
    }
}

impl Drop for Answering<'_> {
    fn drop(&mut self) {
        self.0.lock().clear();
    }
}

/// A self-signed certificate with the digest in the extension of RFC 8737, section 3.
fn make(domain: &str, digest: &[u8]) -> Result<CertifiedKey, String> {
    let failed = |error: rcgen::Error| error.to_string();
    let mut params = CertificateParams::new(vec![domain.to_owned()]).map_err(failed)?;
    params.custom_extensions = vec![CustomExtension::new_acme_identifier(digest)];
    let key = KeyPair::generate().map_err(failed)?;
    let certificate = params.self_signed(&key).map_err(failed)?;
    let key = PrivatePkcs8KeyDer::from(key.serialize_der());
    let key = any_supported_type(&key.into()).map_err(|error| error.to_string())?;
    // Only this constructor accepts the critical extension, which nobody but an authority
    // understands.
    Ok(CertifiedKey::new(vec![certificate.der().clone()], key))
}

#[cfg(test)]
mod tests {
    use x509_parser::certificate::X509Certificate;
    use x509_parser::prelude::FromDer;

    use super::*;

    #[test]
    fn an_answer_has_the_name_and_the_digest_in_a_critical_extension() {
        let answer = make("example.org", &[7; 32]).unwrap();
        let (_, parsed) = X509Certificate::from_der(&answer.cert[0]).unwrap();
        let names = parsed.subject_alternative_name().unwrap().unwrap();
        assert_eq!(names.value.general_names.len(), 1);
        let extension = parsed
            .extensions()
            .iter()
            .find(|extension| extension.oid.to_id_string() == "1.3.6.1.5.5.7.1.31")
            .unwrap();
        // DER: the tag of a string of bytes, and its length, 32.
        assert!(extension.critical);
        assert_eq!(extension.value, [&[4, 32][..], &[7; 32]].concat());
    }
}
