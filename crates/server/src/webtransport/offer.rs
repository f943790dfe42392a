//! What `GET /transports` says about WebTransport.

use std::sync::Arc;

use crate::certificate::keeper::Certificates;

/// The UDP port and the certificate with which the server offers WebTransport now.
pub(crate) struct Offer {
    /// The UDP port.
    pub(crate) port: u16,
    certificates: Arc<Certificates>,
}

impl Offer {
    pub(super) fn new(port: u16, certificates: Arc<Certificates>) -> Self {
        Offer { port, certificates }
    }

    /// SHA-256 of the certificate, if clients have to pin it.
    pub(crate) fn hash(&self) -> Option<[u8; 32]> {
        self.certificates.facts()?.hash
    }

    /// Hashes of certificates to pin, in hexadecimal digits (docs/transports.md, T4). `None` if
    /// clients would refuse the certificate, so that they need not try WebTransport.
    pub(crate) fn hashes(&self) -> Option<Vec<String>> {
        match self.certificates.objection() {
            Some(_) => None,
            None => Some(self.hash().iter().map(|hash| hexadecimal(hash)).collect()),
        }
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
