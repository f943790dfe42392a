//! Certificates and their files.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use groupwire_server::{Certificate, CertificateConfig};
use wtransport::Identity;

pub(crate) const DAY: Duration = Duration::from_secs(24 * 3600);

/// How often the servers of tests check their files and clock.
pub(crate) const CHECK_INTERVAL: Duration = Duration::from_millis(10);

/// A certificate as T7 requires, valid since `since` ago.
pub(crate) fn identity(since: Duration) -> Identity {
    let from = SystemTime::now() - since;
    Identity::self_signed_builder()
        .subject_alt_names(["localhost"])
        .not_before(from.into())
        .validity_days(14)
        .build()
        .unwrap()
}

/// The files of a certificate, in a directory of their own.
pub(crate) struct Files {
    pub(crate) cert: PathBuf,
    pub(crate) key: PathBuf,
}

impl Files {
    pub(crate) fn new(test: &str) -> Self {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
        std::fs::create_dir_all(&directory).unwrap();
        Files { cert: directory.join("cert.pem"), key: directory.join("key.pem") }
    }

    pub(crate) fn write(&self, identity: &Identity) {
        let certificate = identity.certificate_chain().as_slice()[0].to_pem();
        std::fs::write(&self.key, identity.private_key().to_secret_pem()).unwrap();
        std::fs::write(&self.cert, certificate).unwrap();
    }

    pub(crate) fn config(&self) -> CertificateConfig {
        let source = Certificate::Files { cert: self.cert.clone(), key: self.key.clone() };
        let check_interval = CHECK_INTERVAL;
        CertificateConfig { source, check_interval, ..CertificateConfig::default() }
    }
}
