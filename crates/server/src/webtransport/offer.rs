//! What `GET /transports` says about WebTransport, and the renewal of its certificate while the server runs.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use super::certificate::{Certificate, CertificateError, Facts, Served, load, make};

/// A wall clock, which tests can set.
pub type WallClock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// The UDP port and the certificate with which the server offers WebTransport now.
pub(crate) struct Offer {
    /// The UDP port.
    pub(crate) port: u16,
    facts: Mutex<Facts>,
    clock: WallClock,
}

impl Offer {
    pub(super) fn new(port: u16, facts: Facts, clock: WallClock) -> Self {
        Offer { port, facts: Mutex::new(facts), clock }
    }

    /// SHA-256 of the certificate, if clients have to pin it.
    pub(crate) fn hash(&self) -> Option<[u8; 32]> {
        self.facts().hash
    }

    /// Hashes of certificates to pin, in hexadecimal digits (docs/transports.md, T4). `None` if clients would refuse
    /// the certificate, so that they need not try WebTransport.
    pub(crate) fn hashes(&self) -> Option<Vec<String>> {
        let facts = self.facts();
        match facts.objection((self.clock)()) {
            Some(_) => None,
            None => Some(facts.hash.iter().map(|hash| hexadecimal(hash)).collect()),
        }
    }

    fn facts(&self) -> Facts {
        *self.facts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes or reads certificates: the first one and those that replace it.
pub(super) struct CertificateKeeper {
    source: Certificate,
    host: std::net::IpAddr,
    clock: WallClock,
    /// State of the files when they were read last.
    seen: Option<[FileState; 2]>,
    /// When the log last warned that clients refuse the certificate.
    warned: Option<SystemTime>,
}

/// Time of modification and size of a file; `None` if the file is missing.
type FileState = Option<(SystemTime, u64)>;

/// How often the log warns that clients refuse the certificate.
const WARN_INTERVAL: Duration = Duration::from_secs(3600);

impl CertificateKeeper {
    pub(super) fn new(source: Certificate, host: std::net::IpAddr, clock: WallClock) -> Self {
        CertificateKeeper { source, host, clock, seen: None, warned: None }
    }

    /// The first certificate.
    pub(super) fn first(&mut self) -> Result<Served, CertificateError> {
        self.seen = self.file_states();
        self.get()
    }

    /// The next certificate, if one is due: the server's own is old enough, or the files have changed.
    pub(super) fn next(&mut self, facts: &Facts) -> Option<Result<Served, CertificateError>> {
        let states = self.file_states();
        let is_due = states != self.seen || facts.is_due((self.clock)());
        self.seen = states;
        is_due.then(|| self.get())
    }

    /// Warns if clients refuse the certificate, at most once per [`WARN_INTERVAL`].
    pub(super) fn warn_if_refused(&mut self, facts: &Facts) {
        let now = (self.clock)();
        let Some(objection) = facts.objection(now) else {
            self.warned = None;
            return;
        };
        let silent_since = self.warned.and_then(|last| now.duration_since(last).ok());
        if self.warned.is_none() || silent_since.is_some_and(|since| since >= WARN_INTERVAL) {
            self.warned = Some(now);
            tracing::warn!(
                "the certificate {objection}: clients use WebSocket instead of WebTransport, and \
                 GET /transports does not list WebTransport. Replace the certificate's files; the \
                 server reads them again by itself"
            );
        }
    }

    fn get(&self) -> Result<Served, CertificateError> {
        match &self.source {
            Certificate::Own => make((self.clock)(), self.host),
            Certificate::Files { cert, key } => load(cert, key),
        }
    }

    fn file_states(&self) -> Option<[FileState; 2]> {
        let Certificate::Files { cert, key } = &self.source else { return None };
        Some([cert, key].map(|path| {
            let metadata = std::fs::metadata(path).ok()?;
            Some((metadata.modified().ok()?, metadata.len()))
        }))
    }
}

/// Checks for a new certificate every `interval` and hands it to `reload`. Returns only if the check panics.
pub(super) async fn renew(
    offer: Arc<Offer>,
    mut keeper: CertificateKeeper,
    interval: Duration,
    reload: impl Fn(Served) -> Result<(), CertificateError>,
) {
    loop {
        let facts = offer.facts();
        keeper.warn_if_refused(&facts);
        tokio::time::sleep(interval).await;
        // Reading files may block for long on a slow disk.
        let looked = tokio::task::spawn_blocking(move || {
            let next = keeper.next(&facts);
            (keeper, next)
        });
        let Ok((returned, next)) = looked.await else { return };
        keeper = returned;
        let Some(next) = next else { continue };
        let reloaded = next.and_then(|served| {
            let facts = served.facts;
            reload(served).map(|()| facts)
        });
        match reloaded {
            Ok(facts) => {
                *offer.facts.lock().unwrap_or_else(PoisonError::into_inner) = facts;
                tracing::info!("certificate replaced");
            }
            Err(error) => {
                tracing::warn!(%error, "cannot use the new certificate; the old one stays in use");
            }
        }
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
