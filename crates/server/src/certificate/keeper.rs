//! Keeps the certificate in use, and replaces it while the server runs.

use std::fmt;
use std::net::IpAddr;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use tokio_rustls::rustls::server::{ClientHello, ResolvesServerCert};
use tokio_rustls::rustls::sign::CertifiedKey;

use super::config::{Certificate, CertificateConfig};
use super::error::CertificateError;
use super::source::{Facts, Served, load, make};

/// How often the log warns that clients refuse the certificate.
const WARN_INTERVAL: Duration = Duration::from_secs(3600);

/// The certificate in use. Every TLS handshake, of HTTPS and of WebTransport, takes the one that is there then.
pub(crate) struct Certificates {
    config: CertificateConfig,
    host: IpAddr,
    current: RwLock<Served>,
}

/// Replaces the certificate while the server runs.
pub(crate) struct Renewal {
    certificates: Arc<Certificates>,
    /// State of the files when they were read last.
    seen: Option<[FileState; 2]>,
    /// When the log last warned that clients refuse the certificate.
    warned: Option<SystemTime>,
}

/// Time of modification and size of a file; `None` if the file is missing.
type FileState = Option<(SystemTime, u64)>;

impl Certificates {
    /// Makes or reads the first certificate. `host` is the address of WebTransport, for a certificate that the server makes.
    ///
    /// # Errors
    /// Files that cannot be read, or that have no certificate with its own key.
    pub(crate) fn open(
        config: CertificateConfig,
        host: IpAddr,
    ) -> Result<(Arc<Self>, Renewal), CertificateError> {
        let seen = file_states(&config.source);
        let first = obtain(&config, host)?;
        let certificates = Arc::new(Certificates { config, host, current: RwLock::new(first) });
        let mut renewal = Renewal { certificates: Arc::clone(&certificates), seen, warned: None };
        renewal.warn_if_refused();
        Ok((certificates, renewal))
    }

    /// What the server has to know about the certificate in use.
    pub(crate) fn facts(&self) -> Facts {
        self.current.read().unwrap_or_else(PoisonError::into_inner).facts
    }

    /// Why clients refuse the certificate in use; `None` if they accept it.
    pub(crate) fn objection(&self) -> Option<String> {
        self.facts().objection((self.config.clock)())
    }
}

impl ResolvesServerCert for Certificates {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        Some(Arc::clone(&current.key))
    }
}

impl fmt::Debug for Certificates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Certificates").field("source", &self.config.source).finish_non_exhaustive()
    }
}

impl Renewal {
    /// Checks at intervals whether another certificate is due. Returns only if the check panics.
    pub(crate) async fn run(mut self) {
        let interval = self.certificates.config.check_interval;
        loop {
            tokio::time::sleep(interval).await;
            // Reading files may block for long on a slow disk.
            let checking = tokio::task::spawn_blocking(move || {
                self.check();
                self
            });
            match checking.await {
                Ok(renewal) => self = renewal,
                Err(_) => return tracing::error!("certificate renewal stopped"),
            }
        }
    }

    /// Takes the next certificate, if one is due: the server's own is old enough, or the files have changed.
    fn check(&mut self) {
        let certificates = &self.certificates;
        let states = file_states(&certificates.config.source);
        let is_due = certificates.facts().is_due((certificates.config.clock)());
        if states != self.seen || is_due {
            self.seen = states;
            match obtain(&certificates.config, certificates.host) {
                Ok(next) => {
                    *certificates.current.write().unwrap_or_else(PoisonError::into_inner) = next;
                    tracing::info!("certificate replaced");
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
            tracing::warn!(
                "the certificate {objection}. Clients refuse it, and GET /transports does not list \
                 WebTransport. Replace the certificate's files; the server reads them again by itself"
            );
        }
    }
}

fn obtain(config: &CertificateConfig, host: IpAddr) -> Result<Served, CertificateError> {
    match &config.source {
        Certificate::Own => make((config.clock)(), host),
        Certificate::Files { cert, key } => load(cert, key),
    }
}

fn file_states(source: &Certificate) -> Option<[FileState; 2]> {
    let Certificate::Files { cert, key } = source else { return None };
    Some([cert, key].map(|path| {
        let metadata = std::fs::metadata(path).ok()?;
        Some((metadata.modified().ok()?, metadata.len()))
    }))
}
