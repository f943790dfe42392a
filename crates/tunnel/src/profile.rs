//! The file that holds the result of a training run on this machine.
//!
//! `groupwire ace profile` writes it, and streams with the policy `ace-2005` need it.

use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use groupwire_ace::{ParseTrainingError, Training};

/// Why a profile cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// The file cannot be read.
    #[error("cannot read {}: {error}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// The file is no profile.
    #[error("{}: {error}", .path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong with its content.
        error: ParseTrainingError,
    },
    /// The file cannot be written. Its previous content is unchanged.
    #[error("cannot write {}: {error}", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
}

/// The default path of the profile: `groupwire/ace-profile.txt` in `$XDG_DATA_HOME`, or in `~/.local/share`. `None` if
/// neither `XDG_DATA_HOME` nor `HOME` is an absolute path.
pub fn default_path() -> Option<PathBuf> {
    place(env::var_os("XDG_DATA_HOME"), env::var_os("HOME"))
}

fn place(data: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    // The XDG Base Directory Specification says to ignore paths that are not absolute.
    let data = data.map(PathBuf::from).filter(|data| data.is_absolute());
    let home = home.map(PathBuf::from).filter(|home| home.is_absolute());
    let data = data.or_else(|| home.map(|home| home.join(".local/share")))?;
    Some(data.join("groupwire/ace-profile.txt"))
}

/// Reads a profile. At most as many bytes are read as a profile may have.
///
/// # Errors
/// If the file cannot be read or is no profile.
pub fn load(path: &Path) -> Result<Training, ProfileError> {
    let read = || -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let most = Training::LONGEST_TEXT as u64 + 1;
        File::open(path)?.take(most).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().map_err(|error| ProfileError::Read { path: path.to_owned(), error })?;
    // Bytes that are no UTF-8 become replacement characters, which no profile contains.
    Training::parse(&String::from_utf8_lossy(&bytes))
        .map_err(|error| ProfileError::Content { path: path.to_owned(), error })
}

/// Writes a profile and creates the folders above it. The file is replaced as a whole: a concurrent reader gets the
/// previous profile or the new one.
///
/// # Errors
/// If the file or a folder cannot be written.
pub fn save(path: &Path, training: &Training) -> Result<(), ProfileError> {
    write(path, training.to_text().as_bytes())
        .map_err(|error| ProfileError::Write { path: path.to_owned(), error })
}

/// Checks that a profile can be written to this path. To be called before a training run, which takes minutes. Creates
/// the folders above the file.
///
/// # Errors
/// As [`save`].
pub fn check(path: &Path) -> Result<(), ProfileError> {
    let tried = if path.is_dir() { Err(io::ErrorKind::IsADirectory.into()) } else { Ok(()) };
    tried
        .and_then(|()| with_temporary(path, |_, _| Ok(())))
        .map_err(|error| ProfileError::Write { path: path.to_owned(), error })
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    with_temporary(path, |mut file, temporary| {
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(temporary, path)
    })
}

/// Creates a temporary file in the folder of `path`, calls `work` with it and its path, and removes it unless `work` has
/// renamed it.
fn with_temporary(path: &Path, work: impl FnOnce(File, &Path) -> io::Result<()>) -> io::Result<()> {
    let name = path.file_name().ok_or(io::ErrorKind::IsADirectory)?;
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}", std::process::id()));
    let temporary = path.with_file_name(hidden);
    // A process that had the same id may have left this file behind. `create_new` does not follow a symbolic link.
    let _ = fs::remove_file(&temporary);
    let done = File::create_new(&temporary).and_then(|file| work(file, &temporary));
    // This fails if `work` has renamed the file, as it should.
    let _ = fs::remove_file(&temporary);
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A temporary folder, removed when dropped.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = env::temp_dir().join(format!("groupwire-{name}-{}", std::process::id()));
            fs::create_dir_all(&path).unwrap();
            Folder(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_saved_profile_can_be_loaded() {
        let folder = Folder::new("saved");
        let path = folder.0.join("new/folders/profile.txt");
        check(&path).unwrap();
        assert!(load(&path).is_err());
        save(&path, &Training::reference()).unwrap();
        save(&path, &Training::reference()).unwrap();
        check(&path).unwrap();
        assert_eq!(load(&path).unwrap(), Training::reference());
        assert_eq!(fs::read_dir(folder.0.join("new/folders")).unwrap().count(), 1);
    }

    #[test]
    fn errors_name_the_file() {
        let folder = Folder::new("wrong");
        let path = folder.0.join("profile.txt");
        let said = load(&path).unwrap_err().to_string();
        assert!(said.contains("cannot read") && said.contains("profile.txt"), "{said}");
        fs::write(&path, [0xff; 100_000]).unwrap();
        let said = load(&path).unwrap_err().to_string();
        assert!(said.contains("profile.txt: this is no profile"), "{said}");
        // The path is a folder, or has a file above it.
        let said = save(&folder.0, &Training::reference()).unwrap_err().to_string();
        assert!(said.contains("cannot write"), "{said}");
        let said = save(&path.join("more"), &Training::reference()).unwrap_err().to_string();
        assert!(said.contains("cannot write"), "{said}");
        assert!(save(Path::new("/"), &Training::reference()).is_err());
        assert!(check(&folder.0).is_err() && check(&path.join("more")).is_err());
        assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 1);
    }

    #[test]
    fn a_leftover_temporary_file_is_replaced() {
        let folder = Folder::new("left");
        let path = folder.0.join("profile.txt");
        fs::write(folder.0.join(format!(".profile.txt.{}", std::process::id())), "half").unwrap();
        save(&path, &Training::reference()).unwrap();
        assert_eq!(load(&path).unwrap(), Training::reference());
        assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 1);
    }

    #[test]
    fn the_default_path_follows_the_xdg_specification() {
        let place = |data: Option<&str>, home: Option<&str>| {
            let path = place(data.map(OsString::from), home.map(OsString::from))?;
            path.to_str().map(str::to_owned)
        };
        let (data, home) = (Some("/data"), Some("/home/ada"));
        assert_eq!(place(data, home).as_deref(), Some("/data/groupwire/ace-profile.txt"));
        let at_home = "/home/ada/.local/share/groupwire/ace-profile.txt";
        assert_eq!(place(None, home).as_deref(), Some(at_home));
        assert_eq!(place(Some("data"), home).as_deref(), Some(at_home));
        assert_eq!(place(None, None), None);
    }
}
