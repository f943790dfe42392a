//! Certificates by ACME (RFC 8555): ordered from an authority such as Let's Encrypt, and renewed
//! long before they end.
//!
//! The authority checks by TLS-ALPN-01 that the names lead to this server: it connects to port 443
//! and looks at the certificate of a handshake with a protocol name that no client uses. So only
//! the encrypted listener is needed. An issued certificate is written to a file, which the server
//! reads like any other certificate; so processes that share the folder use the certificate that
//! one of them ordered.

pub(crate) mod challenge;
pub(crate) mod config;
mod directory;
mod failure;
mod folder;
mod order;
mod pauses;

use std::path::PathBuf;
use std::sync::Arc;

use challenge::Challenges;
use config::AcmeConfig;
use directory::Directory;
use failure::Failure;
use folder::{Folder, OrderLock};
use pauses::Pauses;

use crate::error::CertificateError;
use crate::tools::secret::random_number;

/// Orders certificates.
pub(super) struct Acme {
    config: AcmeConfig,
    folder: Folder,
    directory: Directory,
    challenges: Arc<Challenges>,
    pauses: Pauses,
}

/// The path of the certificate and its key.
pub(super) fn certificate_path(config: &AcmeConfig) -> PathBuf {
    Folder::of(config).certificate()
}

impl Acme {
    /// Opens the folder. Nothing is ordered yet.
    ///
    /// # Errors
    /// The folder cannot be used, or the file of roots cannot.
    pub(super) fn new(
        config: &AcmeConfig,
        challenges: Arc<Challenges>,
    ) -> Result<Self, CertificateError> {
        let root = config.root.as_deref();
        let directory = Directory::new(root).map_err(|why| CertificateError::AcmeRoot { why })?;
        let failed = |source| CertificateError::AcmeFolder { path: config.folder.clone(), source };
        let folder = Folder::open(config).map_err(failed)?;
        let pauses = Pauses::new(config.first_pause);
        Ok(Acme { config: config.clone(), folder, directory, challenges, pauses })
    }

    /// Begins a try, if the pause after the last one is over and no other process orders with the
    /// same folder. The lock has to be kept until the try has ended.
    pub(super) fn begin(&mut self) -> Option<Try> {
        if !self.pauses.is_over() {
            return None;
        }
        match self.folder.lock() {
            Ok(Some(lock)) => Some(Try(lock)),
            Ok(None) => {
                tracing::debug!("another process orders the certificate");
                None
            }
            Err(error) => {
                self.fail(&Failure::of_file(self.folder.path(), error));
                None
            }
        }
    }

    /// Orders a certificate; true if it was issued and written. A failure is logged, and makes a
    /// pause.
    pub(super) async fn order(&mut self, _try: &Try) -> bool {
        let (domains, directory) = (self.names(), self.config.directory.as_str());
        tracing::info!(domains, directory, "orders a certificate by ACME");
        let ordering =
            order::order(&self.config, &self.folder, &self.directory, &self.challenges).await;
        ordering.inspect_err(|failure| self.fail(failure)).is_ok()
    }

    /// A certificate was issued and is in use.
    pub(super) fn succeed(&mut self) {
        self.pauses.end();
    }

    /// The issued certificate is no better than the one before.
    pub(super) fn fail_as_useless(&mut self) {
        self.fail(&Failure::too_short());
    }

    /// The names in the certificate.
    pub(super) fn names(&self) -> String {
        self.config.domains.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ")
    }

    fn fail(&mut self, failure: &Failure) {
        let pause = self.pauses.begin(self.directory.take_wait(), random_number());
        let Failure { why, advice } = failure;
        let next_try_seconds = pause.as_secs();
        tracing::error!(
            domains = self.names(),
            %why,
            advice,
            next_try_seconds,
            "no certificate was issued by ACME"
        );
    }
}

/// A try to get a certificate. No other process orders with the same folder until it is dropped.
pub(super) struct Try(#[expect(dead_code, reason = "it is a guard")] OrderLock);
