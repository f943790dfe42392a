//! Files and folders that only the user of this process can use, whatever its umask is.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
#[cfg(unix)]
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::lock;
use crate::schema::DATABASE;

/// Replaces the content of a file that only this user can read, or makes the file. It gets its name
/// when it is complete and synced, so that a crash leaves the old content or the new one. One
/// process at a time may do this to a file.
///
/// # Errors
/// What the file system says.
pub fn write_private(path: impl AsRef<Path>, bytes: &[u8]) -> io::Result<()> {
    let path = path.as_ref();
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".new");
    let temporary = Path::new(&temporary);
    // A crash may have left this file behind.
    let _ = fs::remove_file(temporary);
    let mut file = create_private(temporary)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(temporary, path)?;
    match path.parent() {
        Some(folder) if cfg!(unix) => File::open(folder)?.sync_all(),
        _ => Ok(()),
    }
}

/// Makes a new file that only this user can read and write.
///
/// # Errors
/// [`ErrorKind::AlreadyExists`] if the file exists, and what else the file system says.
pub fn create_private(path: impl AsRef<Path>) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    // A umask may have taken rights from this user, too. Some file systems, such as FAT, have no
    // rights.
    #[cfg(unix)]
    let _ = file.set_permissions(fs::Permissions::from_mode(0o600));
    Ok(file)
}

/// Opens a file for reading and writing. If it is missing, makes it as [`create_private`] does.
pub fn open_or_create_private(path: impl AsRef<Path>) -> io::Result<File> {
    let path = path.as_ref();
    match create_private(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            OpenOptions::new().read(true).write(true).open(path)
        }
        created => created,
    }
}

/// Makes a folder and those above it, as far as they are missing, that only this user can use.
///
/// # Errors
/// What the file system says.
pub fn create_private_folder(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref();
    if path.as_os_str().is_empty() || path.is_dir() {
        return Ok(());
    }
    if let Some(above) = path.parent() {
        create_private_folder(above)?;
    }
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(path) {
        // Another process has made the folder meanwhile.
        Err(error) if error.kind() == ErrorKind::AlreadyExists && path.is_dir() => return Ok(()),
        created => created?,
    }
    #[cfg(unix)]
    let _ = fs::set_permissions(path, fs::Permissions::from_mode(0o700));
    Ok(())
}

/// A file or folder that other users could use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loose {
    /// The path of the file or folder.
    pub path: PathBuf,
    /// The mode that it had.
    pub mode: u32,
    /// Why other users can still use it; `None` if they cannot any more.
    pub why_still: Option<String>,
}

/// Takes from other users the rights to a store's folder and the files of the database in it.
/// Earlier versions left them to the umask.
pub fn close_store_to_others(folder: impl AsRef<Path>) -> Vec<Loose> {
    let folder = folder.as_ref();
    let names = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = names.filter_map(|file| {
        let name = file.file_name();
        let name = name.to_str()?;
        let is_ours = name.starts_with(DATABASE) || name == lock::LOCK || is_from_repair(name);
        is_ours.then(|| file.path())
    });
    [folder.to_owned()].into_iter().chain(files).filter_map(close_to_others).collect()
}

/// True for the names of the damaged database that [`repair`](crate::repair) leaves.
fn is_from_repair(name: &str) -> bool {
    name.starts_with("rooms.damaged") || name.starts_with("rooms.repaired")
}

/// Takes from other users their rights to a file or a folder; `None` if they have none, or if it is
/// missing. A folder in which other users have files, too, stays as it is: it is a shared one, such
/// as `/tmp`.
#[cfg(unix)]
pub fn close_to_others(path: impl AsRef<Path>) -> Option<Loose> {
    let path = path.as_ref();
    let found = fs::metadata(path).ok()?;
    let mode = found.mode() & 0o7777;
    if mode & 0o077 == 0 || !(found.is_file() || found.is_dir()) {
        return None;
    }
    let why_still = match found.is_dir() && is_shared(path, &found, found.uid()) {
        true => Some("other users share the folder".to_owned()),
        false => {
            let private = fs::Permissions::from_mode(mode & !0o077);
            fs::set_permissions(path, private).err().map(|error| error.to_string())
        }
    };
    Some(Loose { path: path.to_owned(), mode, why_still })
}

/// True for a folder in which everybody may make files, or that has files of others than its owner.
#[cfg(unix)]
fn is_shared(folder: &Path, found: &fs::Metadata, owner: u32) -> bool {
    const STICKY: u32 = 0o1000;
    let mut files = fs::read_dir(folder).into_iter().flatten().flatten();
    found.mode() & STICKY != 0
        || files.any(|file| file.metadata().is_ok_and(|file| file.uid() != owner))
}

/// Other systems have other rights.
#[cfg(not(unix))]
pub fn close_to_others(_: impl AsRef<Path>) -> Option<Loose> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("it is there").permissions().mode() & 0o7777
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("it is ours");
    }

    #[test]
    fn what_is_made_is_for_this_user_alone() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("one/two");
        create_private_folder(&inner).unwrap();
        create_private_folder(&inner).unwrap();
        let file = inner.join("file");
        create_private(&file).unwrap();
        assert_eq!((mode(&inner), mode(inner.parent().unwrap())), (0o700, 0o700));
        assert_eq!(mode(&file), 0o600);
        assert_eq!(create_private(&file).unwrap_err().kind(), ErrorKind::AlreadyExists);
        // A folder that exists keeps its rights.
        set_mode(&inner, 0o755);
        create_private_folder(&inner).unwrap();
        assert_eq!(mode(&inner), 0o755);
    }

    #[test]
    fn a_store_is_closed_to_others_and_nothing_else_is_touched() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        set_mode(folder, 0o755);
        let names = ["rooms.db", "rooms.db-wal", "rooms.db-shm", "lock", "rooms.damaged", "mine"];
        for name in names {
            fs::write(folder.join(name), "").unwrap();
            set_mode(&folder.join(name), 0o664);
        }
        let mut loose = close_store_to_others(folder);
        loose.sort_by(|one, two| one.path.cmp(&two.path));
        assert!(loose.iter().all(|one| one.why_still.is_none()), "{loose:?}");
        assert_eq!((loose[0].path.as_path(), loose[0].mode), (folder, 0o755));
        assert_eq!(loose.len(), 6);
        assert_eq!(mode(folder), 0o700);
        for name in names {
            let expected = if name == "mine" { 0o664 } else { 0o600 };
            assert_eq!(mode(&folder.join(name)), expected, "{name}");
        }
        assert_eq!(close_store_to_others(folder), []);
        assert_eq!(close_to_others(folder.join("missing")), None);
        assert_eq!(close_to_others("/dev/null"), None, "no file");
    }

    #[test]
    fn a_folder_in_which_others_have_files_is_shared() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        fs::write(folder.join("file"), "").unwrap();
        let found = fs::metadata(folder).unwrap();
        assert!(!is_shared(folder, &found, found.uid()));
        assert!(is_shared(folder, &found, found.uid() + 1));
        // As `/tmp`: closing it would lock out everybody else.
        set_mode(folder, 0o1777);
        let loose = close_to_others(folder).unwrap();
        assert_eq!((loose.mode, mode(folder)), (0o1777, 0o1777));
        assert!(loose.why_still.unwrap().contains("share"));
    }
}
