//! Makes a certificate, or reads it and its key from files.

use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio_rustls::rustls::sign::CertifiedKey;
use tokio_rustls::rustls::{Error as TlsError, InconsistentKeys};
use wtransport::Identity;
use wtransport::tls::self_signed::time::OffsetDateTime;
use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::FromDer;

use super::acme::config::AcmeDomain;
use crate::error::CertificateError;
use crate::tools::secret::random_number;

/// Validity of a certificate that the server makes: browsers accept no more for a pinned
/// certificate (T7).
const LIFE_DAYS: u32 = 14;

/// A new certificate is valid from this time before it was made, so that clients whose clock is
/// slow accept it.
const BACKDATED: Duration = Duration::from_secs(3600);

/// How long the server uses a certificate that it made (T7).
const SERVES: Duration = Duration::from_secs(10 * 24 * 3600);

/// A certificate that is ready for use.
#[derive(Clone)]
pub(super) struct Served {
    pub(super) key: Arc<CertifiedKey>,
    pub(super) facts: Facts,
}

/// What the server has to know about the certificate in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Facts {
    /// SHA-256 of the certificate, if clients have to pin it.
    pub(crate) hash: Option<[u8; 32]>,
    /// Beginning of the validity, in seconds since 1970.
    not_before: i64,
    /// End of the validity, in seconds since 1970.
    not_after: i64,
    /// When the server makes or orders the next certificate; `None` if it is from files.
    renew: Option<i64>,
}

/// An ordered certificate is renewed when this share of its validity is left, as Let's Encrypt
/// advises: 30 of 90 days, 2 of 6.
const RENEWAL_SHARE: f64 = 1.0 / 3.0;

/// It is renewed earlier at random, by up to this share of its validity: servers that were started
/// together renew at different times.
const RENEWAL_JITTER: f64 = 1.0 / 10.0;

impl Facts {
    pub(super) fn is_due(&self, now: SystemTime) -> bool {
        self.renew.is_some_and(|renew| seconds(now) >= renew)
    }

    /// End of the validity, in seconds since 1970.
    pub(crate) fn expiry(&self) -> i64 {
        self.not_after
    }

    /// The end of the validity, as a date for people.
    pub(super) fn expiry_date(&self) -> String {
        date(self.not_after)
    }

    /// Why clients refuse the certificate; `None` if they accept it.
    pub(super) fn objection(&self, now: SystemTime) -> Option<String> {
        match seconds(now) {
            now if now < self.not_before => {
                Some(format!("is not valid before {}", date(self.not_before)))
            }
            now if now > self.not_after => {
                Some(format!("has expired: it was valid until {}", date(self.not_after)))
            }
            _ => None,
        }
    }
}

/// Makes a certificate (T7). `host` is a name, besides localhost, by which clients may address the
/// server.
pub(super) fn make(now: SystemTime, host: IpAddr) -> Result<Served, CertificateError> {
    let from = OffsetDateTime::from(now - BACKDATED);
    let identity = Identity::self_signed_builder()
        .subject_alt_names(["localhost".to_owned(), host.to_string()])
        .not_before(from)
        .validity_days(LIFE_DAYS)
        .build()
        .map_err(unusable)?;
    let leaf = identity.certificate_chain().as_slice().first();
    let leaf = leaf.ok_or_else(|| unusable("it was not made"))?;
    let (not_before, not_after) = validity(leaf.der()).map_err(unusable)?;
    let renew = Some(seconds(now + SERVES));
    let facts = Facts { hash: Some(*leaf.hash().as_ref()), not_before, not_after, renew };
    let chain = vec![CertificateDer::from(leaf.der().to_vec())];
    let key = PrivatePkcs8KeyDer::from(identity.private_key().secret_der().to_vec());
    let key = CertifiedKey::from_der(chain, key.into(), &ring::default_provider());
    Ok(Served { key: Arc::new(key.map_err(unusable)?), facts })
}

/// Reads a certificate and its key. An expired one is no error: see [`Facts::objection`].
pub(super) fn load(cert: &Path, key: &Path) -> Result<Served, CertificateError> {
    let chain = chain(cert)?;
    let leaf = chain.first().ok_or_else(|| unusable("the chain is empty"))?;
    let (not_before, not_after) = validity(leaf).map_err(|why| CertificateError::Pem {
        path: cert.to_owned(),
        due: "certificate that can be read",
        why,
    })?;
    let secret = private_key(key)?;
    let fitting = CertifiedKey::from_der(chain, secret, &ring::default_provider());
    let fitting = fitting.map_err(|error| match error {
        TlsError::InconsistentKeys(InconsistentKeys::KeyMismatch) => {
            CertificateError::OtherKey { cert: cert.to_owned(), key: key.to_owned() }
        }
        error => unusable(error),
    })?;
    warn_if_everybody_reads(key);
    let facts = Facts { hash: None, not_before, not_after, renew: None };
    Ok(Served { key: Arc::new(fitting), facts })
}

/// Reads an ordered certificate, which is in one file with its key; `None` if there is none yet. A
/// certificate that lacks one of the names is due for renewal at once.
pub(super) fn load_ordered(
    path: &Path,
    names: &[AcmeDomain],
) -> Result<Option<Served>, CertificateError> {
    if !path.exists() {
        return Ok(None);
    }
    let served = load(path, path)?;
    let leaf = served.key.cert.first().ok_or_else(|| unusable("the chain is empty"))?;
    let covered = names_in(leaf).map_err(unusable)?;
    let is_complete = names.iter().all(|name| covered.iter().any(|one| one == name.as_str()));
    let renew = if is_complete { renewal(&served.facts, random_number()) } else { i64::MIN };
    let facts = Facts { renew: Some(renew), ..served.facts };
    Ok(Some(Served { facts, ..served }))
}

/// When to renew an ordered certificate, in seconds since 1970.
fn renewal(facts: &Facts, random: u64) -> i64 {
    let validity = facts.not_after.saturating_sub(facts.not_before).max(0) as f64;
    let jitter = RENEWAL_JITTER * (random % 1000) as f64 / 1000.0;
    facts.not_after.saturating_sub((validity * (RENEWAL_SHARE + jitter)) as i64)
}

/// The names of hosts in a certificate, in lower case.
fn names_in(der: &[u8]) -> Result<Vec<String>, String> {
    let (_, leaf) = X509Certificate::from_der(der).map_err(|error| error.to_string())?;
    let names = leaf.subject_alternative_name().map_err(|error| error.to_string())?;
    let names = names.into_iter().flat_map(|names| &names.value.general_names);
    let hosts = names.filter_map(|name| match name {
        GeneralName::DNSName(name) => Some(name.to_ascii_lowercase()),
        _ => None,
    });
    Ok(hosts.collect())
}

fn chain(path: &Path) -> Result<Vec<CertificateDer<'static>>, CertificateError> {
    let text = read(path)?;
    let wrong = |why| CertificateError::Pem { path: path.to_owned(), due: "certificate", why };
    let chain: Vec<_> = CertificateDer::pem_slice_iter(&text)
        .collect::<Result<_, _>>()
        .map_err(|error| wrong(error.to_string()))?;
    match chain.is_empty() {
        true => Err(wrong(found(&text))),
        false => Ok(chain),
    }
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, CertificateError> {
    let text = read(path)?;
    let wrong = |why| CertificateError::Pem { path: path.to_owned(), due: "private key", why };
    let is_encrypted = String::from_utf8_lossy(&text).lines().any(|line| {
        line == "-----BEGIN ENCRYPTED PRIVATE KEY-----" || line == "Proc-Type: 4,ENCRYPTED"
    });
    PrivateKeyDer::from_pem_slice(&text).map_err(|error| match error {
        _ if is_encrypted => CertificateError::Encrypted { path: path.to_owned() },
        pem::Error::NoItemsFound => wrong(found(&text)),
        error => wrong(error.to_string()),
    })
}

/// The content of a PEM file, for the message to a user who named the wrong file.
fn found(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let labels: Vec<_> = text
        .lines()
        .filter_map(|line| line.strip_prefix("-----BEGIN ")?.strip_suffix("-----"))
        .take(3)
        .collect();
    match labels.is_empty() {
        true => "it has no line that begins with -----BEGIN".to_owned(),
        false => format!("it contains a {}", labels.join(", a ")),
    }
}

/// Warns if every user of the machine can read the private key.
fn warn_if_everybody_reads(key: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(key).map_or(0, |metadata| metadata.permissions().mode());
        if mode & 0o004 != 0 {
            let key = key.display();
            tracing::warn!(%key, "every user of this machine can read the private key: `chmod 600` prevents that");
        }
    }
    #[cfg(not(unix))]
    let _ = key;
}

fn validity(der: &[u8]) -> Result<(i64, i64), String> {
    let (_, leaf) = X509Certificate::from_der(der).map_err(|error| error.to_string())?;
    let validity = leaf.validity();
    Ok((validity.not_before.timestamp(), validity.not_after.timestamp()))
}

fn read(path: &Path) -> Result<Vec<u8>, CertificateError> {
    std::fs::read(path).map_err(|source| CertificateError::Read { path: path.to_owned(), source })
}

fn unusable(why: impl ToString) -> CertificateError {
    CertificateError::Unusable { why: why.to_string() }
}

fn seconds(time: SystemTime) -> i64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

/// A time in seconds since 1970 as people write it.
fn date(seconds: i64) -> String {
    match OffsetDateTime::from_unix_timestamp(seconds) {
        Ok(time) => format!("{} {:02}:{:02} UTC", time.date(), time.hour(), time.minute()),
        Err(_) => format!("second {seconds} of 1970"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_secs(24 * 3600);

    #[test]
    fn t7_a_certificate_of_the_server_can_be_pinned_and_is_renewed_in_time() {
        let now = SystemTime::now();
        let served = make(now, IpAddr::from([127, 0, 0, 1])).unwrap();
        let facts = served.facts;
        assert!(facts.hash.is_some());
        assert_eq!(facts.not_after - facts.not_before, 14 * 24 * 3600);
        assert_eq!(facts.objection(now), None);
        assert!(!facts.is_due(now + 9 * DAY));
        assert!(facts.is_due(now + 10 * DAY));
        assert_eq!(facts.objection(now + 13 * DAY), None);
        assert!(facts.objection(now + 15 * DAY).unwrap().starts_with("has expired"));
        assert!(facts.objection(now - DAY).unwrap().starts_with("is not valid before"));
        let again = make(now, IpAddr::from([127, 0, 0, 1])).unwrap();
        assert_ne!(facts.hash, again.facts.hash);
    }

    #[test]
    fn an_ordered_certificate_is_renewed_when_a_third_of_its_validity_is_left_or_somewhat_earlier()
    {
        for days in [90, 45, 6] {
            let seconds = |days: f64| (days * 24.0 * 3600.0) as i64;
            let (not_before, not_after) = (1_000_000, 1_000_000 + seconds(f64::from(days)));
            let facts = Facts { hash: None, not_before, not_after, renew: None };
            let third = not_after - seconds(f64::from(days) / 3.0);
            assert_eq!(renewal(&facts, 0), third);
            let earliest = renewal(&facts, 999);
            let jitter = seconds(f64::from(days) * RENEWAL_JITTER);
            assert!(earliest < third && earliest >= third - jitter, "{earliest}");
        }
    }

    #[test]
    fn an_ordered_certificate_for_other_names_is_due_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("certificate.pem");
        let load = |names: &[&str]| {
            let names: Vec<_> = names.iter().map(|name| name.parse().unwrap()).collect();
            load_ordered(&path, &names).unwrap()
        };
        assert!(load(&["a.example"]).is_none());
        let key = rcgen::KeyPair::generate().unwrap();
        let names = vec!["a.example".to_owned(), "B.example".to_owned()];
        let made = rcgen::CertificateParams::new(names).unwrap().self_signed(&key).unwrap();
        std::fs::write(&path, format!("{}{}", key.serialize_pem(), made.pem())).unwrap();
        let now = SystemTime::now();
        let is_due = |names: &[&str]| load(names).unwrap().facts.is_due(now);
        assert!(!is_due(&["b.example", "a.example"]) && !is_due(&["a.example"]));
        assert!(is_due(&["a.example", "c.example"]));
    }

    #[test]
    fn an_expired_certificate_says_until_when_it_was_valid() {
        let facts = Facts { hash: None, not_before: 0, not_after: 1_767_614_400, renew: None };
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        let objection = facts.objection(now).unwrap();
        assert_eq!(objection, "has expired: it was valid until 2026-01-05 12:00 UTC");
    }
}
