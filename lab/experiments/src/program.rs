//! Looks for programs on the system.

use std::env;
use std::path::PathBuf;

/// The path of the first of these programs that is in a directory of PATH.
pub(crate) fn installed(names: &[&str]) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let places: Vec<_> = env::split_paths(&path).collect();
    let mut candidates =
        names.iter().flat_map(|name| places.iter().map(move |place| place.join(name)));
    candidates.find(|one| one.is_file())
}
