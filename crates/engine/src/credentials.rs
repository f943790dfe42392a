//! Files with a credential.

use std::path::{Path, PathBuf};

use crate::OpenError;

/// The content of a file with a credential.
pub(crate) enum Credentials {
    /// A JSON web token and a seed, as `nsc` writes them.
    #[cfg_attr(not(feature = "nats"), expect(dead_code, reason = "PostgreSQL refuses it"))]
    Nsc(String),
    /// A user and a password.
    User(String, String),
    /// A password for the user in the URL.
    Password(String),
}

pub(crate) fn read(path: &Path) -> Result<Credentials, OpenError> {
    let wrong = |why: String| OpenError::File { path: PathBuf::from(path), why };
    let text = std::fs::read_to_string(path)
        .map_err(|error| wrong(format!("cannot read the credential: {error}")))?;
    if text.contains("-----BEGIN NATS USER JWT-----") {
        return Ok(Credentials::Nsc(text));
    }
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    match lines[..] {
        [password] => Ok(Credentials::Password(password.into())),
        [user, password] => Ok(Credentials::User(user.into(), password.into())),
        _ => {
            Err(wrong("write the user and the password in two lines, or the password alone".into()))
        }
    }
}
