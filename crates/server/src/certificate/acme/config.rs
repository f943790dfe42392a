//! The configuration of certificates by ACME.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use hyper::Uri;

/// Let's Encrypt.
const DIRECTORY: &str = "https://acme-v02.api.letsencrypt.org/directory";

/// The first pause after a failure; each further one is ten times as long, up to half a day. Let's
/// Encrypt advises one minute, ten minutes, a hundred minutes, and then once a day. It permits five
/// failed validations of a name per hour.
const FIRST_PAUSE: Duration = Duration::from_secs(60);

/// Where the certificate is ordered, and for which names.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AcmeConfig {
    /// The names in the certificate. Each must lead to this server at port 443, where its encrypted
    /// listener answers.
    pub domains: Vec<AcmeDomain>,
    /// The authority's directory.
    pub directory: AcmeDirectory,
    /// A PEM file with certificates that are trusted when the directory is asked, beside those that
    /// the system trusts.
    pub root: Option<PathBuf>,
    /// A mail address that the authority may write to.
    pub contact: Option<String>,
    /// The folder of the account's key, and of the certificate with its key.
    pub folder: PathBuf,
    /// The first pause after a failure. Each further pause is ten times as long, up to half a day.
    pub first_pause: Duration,
}

impl AcmeConfig {
    /// A certificate of Let's Encrypt for these names.
    pub fn new(domains: Vec<AcmeDomain>, folder: impl Into<PathBuf>) -> Self {
        AcmeConfig {
            domains,
            directory: AcmeDirectory::default(),
            root: None,
            contact: None,
            folder: folder.into(),
            first_pause: FIRST_PAUSE,
        }
    }
}

/// A name for which a certificate can be ordered, in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcmeDomain(String);

impl AcmeDomain {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AcmeDomain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for AcmeDomain {
    type Err = AcmeConfigError;

    fn from_str(text: &str) -> Result<Self, AcmeConfigError> {
        let wrong = |why| Err(AcmeConfigError::Domain { text: text.to_owned(), why });
        let name = text.trim_end_matches('.').to_ascii_lowercase();
        let is_label = |label: &str| {
            let is_usual = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
            (1..=63).contains(&label.len())
                && label.bytes().all(is_usual)
                && !label.starts_with('-')
                && !label.ends_with('-')
        };
        if name.contains("://") || name.contains('/') || name.contains(':') {
            return wrong(
                "write the name alone, such as example.org, without scheme, port and path",
            );
        }
        if name.starts_with("*.") {
            return wrong(
                "for all names below another one a certificate needs access to the DNS: use another program, and --cert and --key",
            );
        }
        if name.parse::<std::net::IpAddr>().is_ok() {
            return wrong("it is an address: write a name that leads to it");
        }
        if !name.is_ascii() {
            return wrong("write it in its ASCII form, which begins with xn--");
        }
        if name.len() > 253 || !name.split('.').all(is_label) {
            return wrong("it is no name of a host");
        }
        Ok(AcmeDomain(name))
    }
}

/// The address of an authority's directory, over HTTPS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcmeDirectory(String);

impl AcmeDirectory {
    /// The address.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name of the folder of this directory's files, so that trying one authority does not
    /// overwrite what another gave.
    pub(super) fn folder_name(&self) -> String {
        let rest = self.0.trim_start_matches("https://");
        let is_usual = |letter: &char| letter.is_ascii_alphanumeric() || ".-".contains(*letter);
        rest.chars().map(|letter| if is_usual(&letter) { letter } else { '-' }).collect()
    }
}

impl Default for AcmeDirectory {
    fn default() -> Self {
        AcmeDirectory(DIRECTORY.to_owned())
    }
}

impl fmt::Display for AcmeDirectory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for AcmeDirectory {
    type Err = AcmeConfigError;

    fn from_str(text: &str) -> Result<Self, AcmeConfigError> {
        let is_https = text.starts_with("https://");
        match text.parse::<Uri>() {
            Ok(uri) if is_https && uri.host().is_some_and(|host| !host.is_empty()) => {
                Ok(AcmeDirectory(text.to_owned()))
            }
            _ => Err(AcmeConfigError::Directory { text: text.to_owned() }),
        }
    }
}

/// What is wrong with an option of ACME.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AcmeConfigError {
    /// There is no certificate by ACME for this.
    #[error("there is no certificate by ACME for {text:?}: {why}")]
    Domain {
        /// The text.
        text: String,
        /// The reason.
        why: &'static str,
    },
    /// The address is not one of HTTPS.
    #[error("{text:?} is no address of an ACME directory: write https://…, such as {DIRECTORY}")]
    Directory {
        /// The text.
        text: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_hosts_are_taken_and_what_is_none_is_explained() {
        for (text, name) in [
            ("Example.org", "example.org"),
            ("a-b.example.org.", "a-b.example.org"),
            ("localhost", "localhost"),
            ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ] {
            assert_eq!(text.parse::<AcmeDomain>().unwrap().as_str(), name);
        }
        for (text, why) in [
            ("https://example.org", "without scheme"),
            ("example.org:443", "port"),
            ("::1", "write the name alone"),
            ("*.example.org", "--cert and --key"),
            ("192.0.2.1", "a name that leads to it"),
            ("bücher.example", "xn--"),
            ("a..b", "no name of a host"),
            ("-a.example", "no name of a host"),
            ("", "no name of a host"),
            ("a b", "no name of a host"),
        ] {
            let error = text.parse::<AcmeDomain>().unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn a_directory_is_https_and_has_a_folder_of_its_own() {
        let directory: AcmeDirectory = "https://localhost:14000/dir".parse().unwrap();
        assert_eq!(directory.folder_name(), "localhost-14000-dir");
        let name = AcmeDirectory::default().folder_name();
        assert_eq!(name, "acme-v02.api.letsencrypt.org-directory");
        for text in ["http://localhost/dir", "https://", "localhost", "https:///x", ""] {
            assert!(text.parse::<AcmeDirectory>().is_err(), "{text}");
        }
    }
}
