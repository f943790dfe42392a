//! What clients are told of WebTransport, and what changes it while the server runs.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use super::certificate::{Certificate, CertificateError, Facts, Served, load, make};

/// The calendar, which tests turn.
pub type Calendar = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// WebTransport as it is offered now.
pub(crate) struct Offer {
    /// The UDP port.
    pub(crate) port: u16,
    facts: Mutex<Facts>,
    calendar: Calendar,
}

impl Offer {
    pub(super) fn new(port: u16, facts: Facts, calendar: Calendar) -> Self {
        Offer { port, facts: Mutex::new(facts), calendar }
    }

    /// The certificate to pin.
    pub(crate) fn hash(&self) -> Option<[u8; 32]> {
        self.facts().hash
    }

    /// T4: certificates to pin, in hexadecimal digits. `None`: clients would refuse the certificate, so they need not
    /// try.
    pub(crate) fn hashes(&self) -> Option<Vec<String>> {
        let facts = self.facts();
        match facts.objection((self.calendar)()) {
            Some(_) => None,
            None => Some(facts.hash.iter().map(|hash| hexadecimal(hash)).collect()),
        }
    }

    fn facts(&self) -> Facts {
        *self.facts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Gets certificates, first and later ones.
pub(super) struct Keeper {
    source: Certificate,
    host: std::net::IpAddr,
    calendar: Calendar,
    /// What the files looked like when they were read last.
    seen: Option<[Look; 2]>,
    /// When it was last said that the certificate is of no use.
    complained: Option<SystemTime>,
}

/// When a file was changed, and its size. `None`: it is not there.
type Look = Option<(SystemTime, u64)>;

/// How often to say in the log that clients refuse the certificate.
const COMPLAIN: Duration = Duration::from_secs(3600);

impl Keeper {
    pub(super) fn new(source: Certificate, host: std::net::IpAddr, calendar: Calendar) -> Self {
        Keeper { source, host, calendar, seen: None, complained: None }
    }

    /// The certificate to begin with.
    pub(super) fn first(&mut self) -> Result<Served, CertificateError> {
        self.seen = self.look();
        self.get()
    }

    /// Another certificate if one is due: the server's own has served its time, or the files have changed.
    pub(super) fn next(&mut self, facts: &Facts) -> Option<Result<Served, CertificateError>> {
        let look = self.look();
        let is_due = look != self.seen || facts.is_due((self.calendar)());
        self.seen = look;
        is_due.then(|| self.get())
    }

    /// Warns, now and then, of a certificate that is of no use.
    pub(super) fn complain(&mut self, facts: &Facts) {
        let now = (self.calendar)();
        let Some(objection) = facts.objection(now) else {
            self.complained = None;
            return;
        };
        let silent_since = self.complained.and_then(|last| now.duration_since(last).ok());
        if self.complained.is_none() || silent_since.is_some_and(|since| since >= COMPLAIN) {
            self.complained = Some(now);
            tracing::warn!(
                "the certificate {objection}: clients refuse it and use WebSocket instead of \
                 WebTransport, which GET /transports no longer names. Renew it; the server \
                 takes the new one by itself"
            );
        }
    }

    fn get(&self) -> Result<Served, CertificateError> {
        match &self.source {
            Certificate::Own => make((self.calendar)(), self.host),
            Certificate::Files { cert, key } => load(cert, key),
        }
    }

    fn look(&self) -> Option<[Look; 2]> {
        let Certificate::Files { cert, key } = &self.source else { return None };
        Some([cert, key].map(|path| {
            let metadata = std::fs::metadata(path).ok()?;
            Some((metadata.modified().ok()?, metadata.len()))
        }))
    }
}

/// Looks at the keeper every `interval`, and hands what is new to `reload`. Ends only if looking panics.
pub(super) async fn renew(
    offer: Arc<Offer>,
    mut keeper: Keeper,
    interval: Duration,
    reload: impl Fn(Served) -> Result<(), CertificateError>,
) {
    loop {
        let facts = offer.facts();
        keeper.complain(&facts);
        tokio::time::sleep(interval).await;
        // Files may be on a disk that is slow.
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
                tracing::info!("a new certificate is in use");
            }
            Err(error) => {
                tracing::warn!(%error, "the new certificate is of no use; the old one stays");
            }
        }
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
