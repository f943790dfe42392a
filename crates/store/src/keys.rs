//! The keys of session secrets, in a file of the store's folder that only the server's user can
//! read. They are never exported.

use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fmt, fs, io};

use crate::error::OpenError;
use crate::lock::io_error;
use crate::private_file::{create_private_folder, write_private};

/// The name of the file in the folder.
const FILE: &str = "keys";
/// The first line of the file. A newer format will have another number.
const TITLE: &str = "groupwire keys 1";
/// How long the key before the newest one is accepted: sessions can be resumed for hours, not for
/// days.
const ACCEPTED: Duration = Duration::from_secs(24 * 60 * 60);

/// A key for HMAC-SHA-256.
pub type Key = [u8; 32];

/// The key that new session secrets are made with, and the one before.
///
/// ```
/// use groupwire_store::Keys;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// let old = Keys::load_or_create(folder)?;
/// let now = 1_710_000_000_000;
/// let new = Keys::rotate(folder, now)?;
/// assert_ne!(new.current(), old.current());
/// assert!(new.accepted(now + 1).any(|key| key == old.current()));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Keys {
    current: Key,
    /// The key before, and when it was replaced in milliseconds since 1970.
    previous: Option<(Key, u64)>,
}

impl Keys {
    /// Loads the keys of a folder, or makes the first one.
    pub fn load_or_create(folder: impl AsRef<Path>) -> Result<Self, OpenError> {
        let folder = folder.as_ref();
        match read(folder)? {
            Some(keys) => Ok(keys),
            None => Self { current: random(folder)?, previous: None }.write(folder),
        }
    }

    /// Makes a new key. The one before is accepted for 24 hours from `now`, in milliseconds since
    /// 1970.
    pub fn rotate(folder: impl AsRef<Path>, now: u64) -> Result<Self, OpenError> {
        let folder = folder.as_ref();
        let Self { current, .. } = Self::load_or_create(folder)?;
        Self { current: random(folder)?, previous: Some((current, now)) }.write(folder)
    }

    /// The key for new session secrets.
    pub fn current(&self) -> &Key {
        &self.current
    }

    /// The keys that a session secret may have been made with, the current one first. `now` is in
    /// milliseconds since 1970.
    pub fn accepted(&self, now: u64) -> impl Iterator<Item = &Key> {
        let is_accepted =
            |replaced: u64| u128::from(now.saturating_sub(replaced)) < ACCEPTED.as_millis();
        let previous = self.previous.as_ref().filter(|(_, replaced)| is_accepted(*replaced));
        [&self.current].into_iter().chain(previous.map(|(key, _)| key))
    }

    fn write(self, folder: &Path) -> Result<Self, OpenError> {
        let mut text = format!("{TITLE}\n{}\n", hex(&self.current));
        if let Some((previous, replaced)) = &self.previous {
            text += &format!("{} {replaced}\n", hex(previous));
        }
        let write = || -> io::Result<()> {
            create_private_folder(folder)?;
            write_private(folder.join(FILE), text.as_bytes())
        };
        write().map_err(|error| io_error(folder, &error))?;
        Ok(self)
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keys { .. }")
    }
}

fn read(folder: &Path) -> Result<Option<Keys>, OpenError> {
    let path = folder.join(FILE);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io_error(&path, &error)),
    };
    check_private(&path)?;
    let reason = "this is not a file of keys; restore it, or remove it, and all clients join anew";
    parse(&text).map(Some).ok_or_else(|| wrong(path, reason))
}

fn wrong(path: PathBuf, reason: &str) -> OpenError {
    OpenError::Keys { path, reason: reason.into() }
}

fn parse(text: &str) -> Option<Keys> {
    let mut lines = text.lines();
    if lines.next()? != TITLE {
        return None;
    }
    let current = from_hex(lines.next()?)?;
    let previous = match lines.next() {
        Some(line) => {
            let (key, replaced) = line.split_once(' ')?;
            Some((from_hex(key)?, replaced.parse().ok()?))
        }
        None => None,
    };
    Some(Keys { current, previous })
}

fn hex(key: &Key) -> String {
    key.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(text: &str) -> Option<Key> {
    let mut key = Key::default();
    if !text.is_ascii() || text.len() != 2 * key.len() {
        return None;
    }
    for (byte, place) in key.iter_mut().zip((0..text.len()).step_by(2)) {
        *byte = u8::from_str_radix(&text[place..place + 2], 16).ok()?;
    }
    Some(key)
}

fn random(folder: &Path) -> Result<Key, OpenError> {
    let mut key = Key::default();
    getrandom::fill(&mut key).map_err(|error| OpenError::Io {
        folder: folder.to_owned(),
        reason: format!("the system gives no random numbers: {error}"),
    })?;
    Ok(key)
}

#[cfg(unix)]
fn check_private(path: &Path) -> Result<(), OpenError> {
    use std::os::unix::fs::PermissionsExt;
    let metadata = fs::metadata(path).map_err(|error| io_error(path, &error))?;
    if metadata.permissions().mode() & 0o077 != 0 {
        return Err(wrong(
            path.to_owned(),
            "other users can read it; run `chmod 600` on it and rotate the key",
        ));
    }
    Ok(())
}

#[cfg(not(unix))]
fn check_private(_: &Path) -> Result<(), OpenError> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    const DAY: u64 = 86_400_000;

    #[test]
    fn keys_stay_and_the_one_before_is_accepted_for_a_day() {
        let folder = TempDir::new().unwrap();
        let first = Keys::load_or_create(folder.path()).unwrap();
        assert_eq!(Keys::load_or_create(folder.path()).unwrap(), first);
        let second = Keys::rotate(folder.path(), 1000).unwrap();
        assert_eq!(Keys::load_or_create(folder.path()).unwrap(), second);
        let accepted = |now| second.accepted(now).copied().collect::<Vec<_>>();
        assert_eq!(accepted(1000 + DAY - 1), [second.current, first.current]);
        assert_eq!(accepted(0), [second.current, first.current], "the clock was set back");
        assert_eq!(accepted(1000 + DAY), [second.current]);
        let third = Keys::rotate(folder.path(), 2000).unwrap();
        assert!(third.accepted(2000).all(|key| *key != first.current));
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_can_read_the_file() {
        use std::os::unix::fs::PermissionsExt;
        let folder = TempDir::new().unwrap();
        Keys::load_or_create(folder.path()).unwrap();
        let path = folder.path().join(FILE);
        let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(), 0o600);
        Keys::rotate(folder.path(), 0).unwrap();
        assert_eq!(mode(), 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let error = Keys::load_or_create(folder.path()).unwrap_err();
        assert!(error.to_string().contains("chmod 600"), "{error}");
    }

    #[test]
    fn keys_are_not_printed_and_other_files_are_refused() {
        let folder = TempDir::new().unwrap();
        let keys = Keys::load_or_create(folder.path()).unwrap();
        assert!(!format!("{keys:?}").contains(&hex(keys.current())));
        assert!(parse(TITLE).is_none());
        assert!(parse("groupwire keys 2\n00").is_none());
        assert!(parse(&format!("{TITLE}\n{}\nx y", hex(keys.current()))).is_none());
    }
}
