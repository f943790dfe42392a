//! Recordings in directories.

use std::path::{Path, PathBuf};

use crate::Result;

/// The files of a directory whose names have this end, or it and `.gz`, in the order of their
/// names.
pub(crate) fn files(directory: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let unreadable = |error| format!("cannot read the directory {}: {error}", directory.display());
    let mut files = Vec::new();
    for entry in directory.read_dir().map_err(unreadable)? {
        let file = entry.map_err(unreadable)?.path();
        let name = file.to_string_lossy();
        if name.strip_suffix(".gz").unwrap_or(&name).ends_with(extension) {
            files.push(file);
        }
    }
    files.sort();
    Ok(files)
}
