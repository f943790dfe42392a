//! The lock of a store's folder: two servers on one folder would overwrite each other's rooms.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::process;

use fs4::{FileExt, TryLockError};

use crate::error::OpenError;
use crate::private_file::open_or_create_private;

/// The name of the file in the folder.
pub(crate) const LOCK: &str = "lock";

/// Holds the folder's lock until it is dropped. If the process ends, the system drops the lock.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock, and writes the number of this process into the file.
    pub(crate) fn take(folder: &Path) -> Result<Self, OpenError> {
        let io = |error: std::io::Error| io_error(folder, &error);
        let path = folder.join(LOCK);
        let mut file = open_or_create_private(path).map_err(io)?;
        match FileExt::try_lock(&file) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut process = String::new();
                let known = file.read_to_string(&mut process).is_ok() && !process.is_empty();
                let process = if known { process.trim().to_owned() } else { "unknown".to_owned() };
                return Err(OpenError::InUse { folder: folder.to_owned(), process });
            }
            Err(TryLockError::Error(error)) => return Err(io(error)),
        }
        file.set_len(0).map_err(io)?;
        file.rewind().map_err(io)?;
        writeln!(file, "{}", process::id()).map_err(io)?;
        Ok(Self { _file: file })
    }
}

/// What an error of the file system means to the user.
pub(crate) fn io_error(folder: &Path, error: &std::io::Error) -> OpenError {
    use std::io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem, StorageFull};
    match error.kind() {
        PermissionDenied | ReadOnlyFilesystem => OpenError::ReadOnly(folder.to_owned()),
        StorageFull => OpenError::full(folder.to_owned()),
        _ => OpenError::Io { folder: folder.to_owned(), reason: error.to_string() },
    }
}
