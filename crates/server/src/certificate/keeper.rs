//! Keeps the certificate in use, and replaces it while the server runs.

use std::fmt;
use std::net::IpAddr;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};
use std::time::{Duration, SystemTime};

use tokio_rustls::rustls::server::{ClientHello, ResolvesServerCert};
use tokio_rustls::rustls::sign::CertifiedKey;

use super::acme::challenge::{ACME_TLS, Challenges};
use super::acme::{Acme, certificate_path};
use super::config::{Certificate, CertificateConfig};
use super::source::{Facts, Served, load, load_ordered, make};
use crate::error::CertificateError;

/// How often the log warns that clients refuse the certificate.
const WARN_INTERVAL: Duration = Duration::from_secs(3600);

/// The certificate in use. Every TLS handshake, of HTTPS and of WebTransport, takes the current
/// one.
pub(crate) struct Certificates {
    config: CertificateConfig,
    host: IpAddr,
    /// `None` until the first certificate was ordered.
    current: RwLock<Option<Served>>,
    /// The answers to the challenges of an authority; `None` if no certificates are ordered.
    challenges: Option<Arc<Challenges>>,
}

/// Replaces the certificate while the server runs.
pub(crate) struct Renewal {
    certificates: Arc<Certificates>,
    /// Orders the next certificate; `None` if certificates are not ordered.
    acme: Option<Acme>,
    /// State of the files when they were read last.
    seen: Vec<FileState>,
    /// When the log last warned that clients refuse the certificate.
    warned: Option<SystemTime>,
}

/// Time of modification and size of a file; `None` if the file is missing.
type FileState = Option<(SystemTime, u64)>;

impl Certificates {
    /// Makes or reads the first certificate. An ordered certificate may come later. `host` is the
    /// address of WebTransport, for a certificate that the server makes.
    ///
    /// # Errors
    /// Files that cannot be read, or that have no certificate with its own key.
    pub(crate) fn open(
        config: CertificateConfig,
        host: IpAddr,
    ) -> Result<(Arc<Self>, Renewal), CertificateError> {
        let (challenges, acme) = match &config.source {
            Certificate::Acme(acme) => {
                let challenges = Arc::<Challenges>::default();
                (Some(Arc::clone(&challenges)), Some(Acme::new(acme, challenges)?))
            }
            Certificate::Own | Certificate::Files { .. } => (None, None),
        };
        let seen = file_states(&config.source);
        let current = RwLock::new(obtain(&config, host)?);
        let certificates = Arc::new(Certificates { config, host, current, challenges });
        let mut renewal =
            Renewal { certificates: Arc::clone(&certificates), acme, seen, warned: None };
        renewal.warn_if_refused();
        Ok((certificates, renewal))
    }

    /// What the server has to know about the certificate in use; `None` if there is none yet.
    pub(crate) fn facts(&self) -> Option<Facts> {
        self.current().as_ref().map(|served| served.facts)
    }

    /// Why clients refuse the certificate in use; `None` if they accept it.
    pub(crate) fn objection(&self) -> Option<String> {
        match self.facts() {
            Some(facts) => facts.objection((self.config.clock)()),
            None => Some("is not there yet".to_owned()),
        }
    }

    /// The end of the validity of the certificate in use, in seconds since 1970; `None` if there is
    /// none, or if the server made it itself and replaces it in time.
    pub(crate) fn expiry(&self) -> Option<i64> {
        self.facts().filter(|facts| facts.hash.is_none()).map(|facts| facts.expiry())
    }

    /// The ALPN protocol of an authority's challenges, if certificates are ordered.
    pub(crate) fn question(&self) -> Option<&'static [u8]> {
        self.challenges.as_ref().map(|_| ACME_TLS)
    }

    /// True if the next certificate has to be ordered.
    fn is_due(&self) -> bool {
        self.facts().is_none_or(|facts| facts.is_due((self.config.clock)()))
    }

    fn current(&self) -> RwLockReadGuard<'_, Option<Served>> {
        self.current.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ResolvesServerCert for Certificates {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        if Challenges::is_question(&hello) {
            return self.challenges.as_ref()?.answer(&hello);
        }
        self.current().as_ref().map(|served| Arc::clone(&served.key))
    }
}

impl fmt::Debug for Certificates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Certificates").field("source", &self.config.source).finish_non_exhaustive()
    }
}

impl Renewal {
    /// Checks at intervals whether another certificate is due, and orders it. Returns only if the
    /// check panics.
    pub(crate) async fn run(mut self) {
        let interval = self.certificates.config.check_interval;
        loop {
            let ordered = match self.order().await {
                Some(renewal) => renewal,
                None => break,
            };
            tokio::time::sleep(interval).await;
            match ordered.checked().await {
                Some(renewal) => self = renewal,
                None => break,
            }
        }
        tracing::error!("certificate renewal stopped");
    }

    /// Orders a certificate, if one is due. Meanwhile the old one is served. `None` if a check
    /// panics.
    async fn order(mut self) -> Option<Self> {
        let is_due = self.certificates.is_due();
        let begun = self.acme.as_mut().filter(|_| is_due).and_then(Acme::begin);
        let Some(begun) = begun else { return Some(self) };
        // Another process may have ordered since the last check.
        self = self.checked().await?;
        let Some(acme) = self.acme.as_mut().filter(|_| self.certificates.is_due()) else {
            return Some(self);
        };
        let is_issued = acme.order(&begun).await;
        self = self.checked().await?;
        if let Some(acme) = self.acme.as_mut().filter(|_| is_issued) {
            match self.certificates.is_due() {
                true => acme.fail_as_useless(),
                false => acme.succeed(),
            }
        }
        Some(self)
    }

    /// Checks in a thread where reading files may block for long. `None` if the check panics.
    async fn checked(mut self) -> Option<Self> {
        let checking = tokio::task::spawn_blocking(move || {
            self.check();
            self
        });
        checking.await.ok()
    }

    /// Takes the next certificate, if there is one: the server's own is old enough, or the files
    /// have changed.
    fn check(&mut self) {
        let certificates = &self.certificates;
        let config = &certificates.config;
        let states = file_states(&config.source);
        let is_old = matches!(config.source, Certificate::Own) && certificates.is_due();
        if states != self.seen || is_old {
            self.seen = states;
            match obtain(config, certificates.host) {
                Ok(Some(next)) => {
                    let valid_until = next.facts.expiry_date();
                    *certificates.current.write().unwrap_or_else(PoisonError::into_inner) =
                        Some(next);
                    tracing::info!(valid_until, "certificate replaced");
                }
                Ok(None) => {
                    tracing::warn!(
                        "the certificate's file was removed; what was in it stays in use"
                    );
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot use the new certificate; the old one stays in use");
                }
            }
        }
        self.warn_if_refused();
    }

    /// Warns if clients refuse the certificate, at most once per [`WARN_INTERVAL`].
    fn warn_if_refused(&mut self) {
        let now = (self.certificates.config.clock)();
        let Some(objection) = self.certificates.objection() else {
            self.warned = None;
            return;
        };
        let silent_since = self.warned.and_then(|last| now.duration_since(last).ok());
        if self.warned.is_none() || silent_since.is_some_and(|since| since >= WARN_INTERVAL) {
            self.warned = Some(now);
            let remedy = match self.acme {
                None => "Replace the certificate's files; the server reads them again by itself",
                Some(_) => "The server orders one by ACME; if that fails, the log says why",
            };
            tracing::warn!(
                "the certificate {objection}. Clients refuse it, and GET /transports does not list \
                 WebTransport. {remedy}"
            );
        }
    }
}

/// The certificate as it is now; `None` if it has to be ordered first.
fn obtain(config: &CertificateConfig, host: IpAddr) -> Result<Option<Served>, CertificateError> {
    match &config.source {
        Certificate::Own => make((config.clock)(), host).map(Some),
        Certificate::Files { cert, key } => load(cert, key).map(Some),
        Certificate::Acme(acme) => load_ordered(&certificate_path(acme), &acme.domains),
    }
}

fn file_states(source: &Certificate) -> Vec<FileState> {
    let state = |path: &Path| {
        let metadata = std::fs::metadata(path).ok()?;
        Some((metadata.modified().ok()?, metadata.len()))
    };
    match source {
        Certificate::Own => Vec::new(),
        Certificate::Files { cert, key } => vec![state(cert), state(key)],
        Certificate::Acme(acme) => vec![state(&certificate_path(acme))],
    }
}
