//! The token of the administration listener.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;

use crate::tools::secret::is_same_secret;

/// Fewest bytes of a token.
const MIN_BYTES: usize = 32;

/// Most bytes that are read of a token's file.
const MAX_BYTES: u64 = 4096;

/// The secret that requests to the administration listener bear: at least 32 visible ASCII
/// characters.
#[derive(Clone, PartialEq, Eq)]
pub struct AdminToken(String);

/// Why a token cannot be used.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum AdminTokenError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// Other users of the machine may read or write the file.
    #[error("other users may use {} (mode {mode:o}); run `chmod 600` on it and put a new token into it", path.display())]
    Shared {
        /// The file.
        path: PathBuf,
        /// The permissions of the file.
        mode: u32,
    },
    /// The token is shorter than 32 bytes.
    #[error(
        "the token has {length} bytes and needs at least {MIN_BYTES}; `openssl rand -hex 32` makes one"
    )]
    Short {
        /// The bytes of the token.
        length: usize,
    },
    /// The token cannot be sent in a header of HTTP.
    #[error("the token has blanks or characters beyond ASCII; `openssl rand -hex 32` makes one")]
    Characters,
}

impl AdminToken {
    /// Uses a text as the token.
    ///
    /// # Errors
    /// [`AdminTokenError::Short`] or [`AdminTokenError::Characters`].
    pub fn new(text: &str) -> Result<Self, AdminTokenError> {
        match text {
            _ if text.len() < MIN_BYTES => Err(AdminTokenError::Short { length: text.len() }),
            _ if !text.bytes().all(|byte| byte.is_ascii_graphic()) => {
                Err(AdminTokenError::Characters)
            }
            _ => Ok(AdminToken(text.to_owned())),
        }
    }

    /// Reads a token from a file that only its user may use (mode 0600 or less). White space around
    /// the token is left out.
    ///
    /// # Errors
    /// [`AdminTokenError`] says what is wrong with the file or its content.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, AdminTokenError> {
        let path = path.as_ref();
        let unreadable = |source| AdminTokenError::Unreadable { path: path.to_owned(), source };
        let file = File::open(path).map_err(unreadable)?;
        check_mode(&file, path)?;
        let mut text = String::new();
        file.take(MAX_BYTES).read_to_string(&mut text).map_err(unreadable)?;
        AdminToken::new(text.trim())
    }

    /// A token of 32 random bytes from the operating system.
    pub(crate) fn random() -> Self {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).expect("the operating system has a random source");
        AdminToken(BASE64_URL_SAFE_NO_PAD.encode(bytes))
    }

    /// True if a request with this `Authorization` bears the token.
    pub(crate) fn is_borne_by(&self, authorization: &[u8]) -> bool {
        authorization
            .split_at_checked(SCHEME.len())
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case(SCHEME))
            .is_some_and(|(_, given)| is_same_secret(given, self.0.as_bytes()))
    }

    /// The token itself, to be sent behind `Authorization: Bearer`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What stands before the token in `Authorization`.
const SCHEME: &[u8] = b"Bearer ";

impl fmt::Debug for AdminToken {
    /// Does not tell the token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AdminToken")
    }
}

#[cfg(unix)]
fn check_mode(file: &File, path: &Path) -> Result<(), AdminTokenError> {
    use std::os::unix::fs::PermissionsExt;
    let metadata = file
        .metadata()
        .map_err(|source| AdminTokenError::Unreadable { path: path.to_owned(), source })?;
    match metadata.permissions().mode() & 0o7777 {
        mode if mode & 0o077 != 0 => Err(AdminTokenError::Shared { path: path.to_owned(), mode }),
        _ => Ok(()),
    }
}

/// The file systems of other systems have no modes.
#[cfg(not(unix))]
fn check_mode(_: &File, _: &Path) -> Result<(), AdminTokenError> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_exact_token_is_accepted() {
        let text = "abcdefghijklmnopqrstuvwxyz0123456";
        let token = AdminToken::new(text).unwrap();
        assert!(token.is_borne_by(format!("Bearer {text}").as_bytes()));
        assert!(token.is_borne_by(format!("bearer {text}").as_bytes()));
        for wrong in ["", "Bearer", "Bearer ", text, "Basic abcdefghijklmnopqrstuvwxyz0123456"] {
            assert!(!token.is_borne_by(wrong.as_bytes()), "{wrong}");
        }
        for wrong in [&text[1..], &text[..32], &format!("{text}7"), &format!(" {text}")] {
            assert!(!token.is_borne_by(format!("Bearer {wrong}").as_bytes()), "{wrong}");
        }
        assert!(!format!("{token:?}").contains(text));
    }

    #[test]
    fn random_tokens_differ_and_are_long_enough() {
        let token = AdminToken::random();
        assert_ne!(token, AdminToken::random());
        assert!(AdminToken::new(token.as_str()).is_ok());
    }

    #[test]
    fn short_and_unsendable_tokens_are_refused() {
        assert!(matches!(
            AdminToken::new(&"x".repeat(31)),
            Err(AdminTokenError::Short { length: 31 })
        ));
        for wrong in ["x ".repeat(20), "\u{e4}".repeat(40), "x\n".repeat(20)] {
            assert!(matches!(AdminToken::new(&wrong), Err(AdminTokenError::Characters)));
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_may_read_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let text = AdminToken::random();
        std::fs::write(&path, format!("{}\n", text.as_str())).unwrap();
        for (mode, is_right) in [(0o600, true), (0o400, true), (0o640, false), (0o602, false)] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            match AdminToken::from_file(&path) {
                Ok(read) => assert!(is_right && read == text, "{mode:o}"),
                Err(error) => assert!(!is_right && error.to_string().contains("chmod 600")),
            }
        }
        let missing = AdminToken::from_file(folder.path().join("none"));
        assert!(matches!(missing, Err(AdminTokenError::Unreadable { .. })));
    }
}
