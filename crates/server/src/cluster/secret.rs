//! The secret that all servers of a cluster share. From it come the key by which they know each
//! other, and the keys of sessions, so that a client can resume on any server.

use std::fs;
use std::path::{Path, PathBuf};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The fewest characters of a secret: as hexadecimal digits they are 16 random bytes.
const MIN_SECRET: usize = 32;

/// The most secrets of a file: the one in use, and those that are being replaced.
const MAX_SECRETS: usize = 4;

/// The secrets of a file, one per line. The first one is in use; the others are accepted from
/// servers and clients that still use them, while a secret is replaced.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct ClusterSecrets(Vec<Vec<u8>>);

/// A file that has no secret of a cluster.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {why}", file.display())]
pub(crate) struct SecretError {
    file: PathBuf,
    why: String,
}

impl ClusterSecrets {
    /// Reads the secrets of a file.
    ///
    /// # Errors
    /// The file cannot be read, or has no secret that is long enough.
    pub(crate) fn read(file: &Path) -> Result<Self, SecretError> {
        let failed = |why: String| SecretError { file: file.to_owned(), why };
        let text = fs::read_to_string(file).map_err(|error| failed(error.to_string()))?;
        ClusterSecrets::parse(&text).map_err(failed)
    }

    fn parse(text: &str) -> Result<Self, String> {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let secrets: Vec<_> = lines.map(|line| line.as_bytes().to_vec()).collect();
        match secrets.iter().map(Vec::len).min() {
            None => Err(format!("no secret: write one with `openssl rand -hex {MIN_SECRET}`")),
            Some(shortest) if shortest < MIN_SECRET => Err(format!(
                "a secret of {shortest} characters is too short, {MIN_SECRET} are the least: \
                 write one with `openssl rand -hex {MIN_SECRET}`"
            )),
            Some(_) if secrets.len() > MAX_SECRETS => {
                Err(format!("more than {MAX_SECRETS} secrets: keep those that are still in use"))
            }
            Some(_) => Ok(ClusterSecrets(secrets)),
        }
    }

    /// The keys for a purpose, that of the secret in use first (RFC 5869, section 3.3).
    pub(crate) fn keys(&self, purpose: &[u8]) -> Vec<[u8; 32]> {
        self.0.iter().map(|secret| derive(secret, purpose)).collect()
    }
}

impl std::fmt::Debug for ClusterSecrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ClusterSecrets(..)")
    }
}

fn derive(secret: &[u8], purpose: &[u8]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).expect("HMAC takes keys of any size");
    mac.update(purpose);
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_secret_is_in_use_and_others_are_accepted() {
        let (new, old) = ("a".repeat(32), "b".repeat(64));
        let both = ClusterSecrets::parse(&format!("{new}\n\n  {old} \n")).unwrap();
        let alone = |secret: &str| ClusterSecrets::parse(secret).unwrap();
        let keys = both.keys(b"tls");
        assert_eq!(keys, [alone(&new).keys(b"tls"), alone(&old).keys(b"tls")].concat());
        assert_ne!(keys, both.keys(b"sessions"));
    }

    #[test]
    fn a_file_without_a_long_secret_is_refused_with_advice() {
        for text in ["", "\n \n", "short", &format!("{}\nshort", "a".repeat(32))] {
            let error = ClusterSecrets::parse(text).unwrap_err();
            assert!(error.contains("openssl rand -hex 32"), "{text:?}: {error}");
        }
        assert!(ClusterSecrets::parse(&format!("{}\n", "a".repeat(32)).repeat(5)).is_err());
        let error = ClusterSecrets::read(Path::new("/nowhere/secret")).unwrap_err().to_string();
        assert!(error.starts_with("/nowhere/secret: "), "{error}");
    }
}
