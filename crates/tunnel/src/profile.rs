//! The file that a training run of this machine is kept in.
//!
//! `groupwire ace profile` writes it, and whoever chooses codecs as in 2005 reads it.

use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use groupwire_ace::{ParseTrainingError, Training};

/// Why there is no profile. What is wrong is the file, or the disk.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// It cannot be read.
    #[error("cannot read {}: {error}", .path.display())]
    Read {
        /// Which file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// It is no profile.
    #[error("{}: {error}", .path.display())]
    Content {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        error: ParseTrainingError,
    },
    /// It cannot be written. What was there before is there still.
    #[error("cannot write {}: {error}", .path.display())]
    Write {
        /// Which file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

/// Where the profile is unless said otherwise: `groupwire/ace-profile.txt` in `$XDG_DATA_HOME`, or in `~/.local/share`.
/// `None` without a home.
pub fn default_path() -> Option<PathBuf> {
    place(env::var_os("XDG_DATA_HOME"), env::var_os("HOME"))
}

fn place(data: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    // What is not absolute does not count, says the XDG Base Directory Specification.
    let data = data.map(PathBuf::from).filter(|data| data.is_absolute());
    let home = home.map(PathBuf::from).filter(|home| home.is_absolute());
    let data = data.or_else(|| home.map(|home| home.join(".local/share")))?;
    Some(data.join("groupwire/ace-profile.txt"))
}

/// Reads a profile. Of a large file no more is read than a profile has at most.
///
/// # Errors
/// If there is none, or something else.
pub fn load(path: &Path) -> Result<Training, ProfileError> {
    let read = || -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let most = Training::LONGEST_TEXT as u64 + 1;
        File::open(path)?.take(most).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().map_err(|error| ProfileError::Read { path: path.to_owned(), error })?;
    // What is no text has no first line of a profile either.
    Training::parse(&String::from_utf8_lossy(&bytes))
        .map_err(|error| ProfileError::Content { path: path.to_owned(), error })
}

/// Writes a profile, with the folders above it, all or nothing: whoever reads meanwhile gets the one before.
///
/// # Errors
/// If the disk is full, it is not allowed, and so on.
pub fn save(path: &Path, training: &Training) -> Result<(), ProfileError> {
    write(path, training.to_text().as_bytes())
        .map_err(|error| ProfileError::Write { path: path.to_owned(), error })
}

/// Whether a profile can be written there, before one is made in minutes of work. The folders above it are made.
///
/// # Errors
/// As [`save`].
pub fn check(path: &Path) -> Result<(), ProfileError> {
    let tried = if path.is_dir() { Err(io::ErrorKind::IsADirectory.into()) } else { Ok(()) };
    tried
        .and_then(|()| beside(path, |_, _| Ok(())))
        .map_err(|error| ProfileError::Write { path: path.to_owned(), error })
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    beside(path, |mut file, beside| {
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(beside, path)
    })
}

/// Does something with a new file in the folder of `path`, which does not stay.
fn beside(path: &Path, work: impl FnOnce(File, &Path) -> io::Result<()>) -> io::Result<()> {
    let name = path.file_name().ok_or(io::ErrorKind::IsADirectory)?;
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}", std::process::id()));
    let beside = path.with_file_name(hidden);
    // Of a process that was ended meanwhile and had our number. A link would lead elsewhere, so the file is a new one.
    let _ = fs::remove_file(&beside);
    let done = File::create_new(&beside).and_then(|file| work(file, &beside));
    // If it is not where it should be by now.
    let _ = fs::remove_file(&beside);
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder of its own for each test, which goes with it.
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
    fn what_is_saved_is_loaded() {
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
    fn what_is_wrong_is_said_with_the_file() {
        let folder = Folder::new("wrong");
        let path = folder.0.join("profile.txt");
        let said = load(&path).unwrap_err().to_string();
        assert!(said.contains("cannot read") && said.contains("profile.txt"), "{said}");
        fs::write(&path, [0xff; 100_000]).unwrap();
        let said = load(&path).unwrap_err().to_string();
        assert!(said.contains("profile.txt: this is no profile"), "{said}");
        // A folder is where the file should go, and a file where the folder should be.
        let said = save(&folder.0, &Training::reference()).unwrap_err().to_string();
        assert!(said.contains("cannot write"), "{said}");
        let said = save(&path.join("more"), &Training::reference()).unwrap_err().to_string();
        assert!(said.contains("cannot write"), "{said}");
        assert!(save(Path::new("/"), &Training::reference()).is_err());
        assert!(check(&folder.0).is_err() && check(&path.join("more")).is_err());
        assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 1);
    }

    #[test]
    fn what_a_process_left_behind_is_no_obstacle() {
        let folder = Folder::new("left");
        let path = folder.0.join("profile.txt");
        fs::write(folder.0.join(format!(".profile.txt.{}", std::process::id())), "half").unwrap();
        save(&path, &Training::reference()).unwrap();
        assert_eq!(load(&path).unwrap(), Training::reference());
        assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 1);
    }

    #[test]
    fn it_lies_where_data_lie() {
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
