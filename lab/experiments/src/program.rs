//! Programs that the system may have.

use std::path::PathBuf;
use std::{env, io};

/// The program `groupwire`, which experiments start as a server or a tunnel: `named` if it is given, else the one beside
/// the running program, else the one that is installed.
///
/// # Errors
/// There is none, with what to do about it.
pub fn groupwire(named: Option<PathBuf>) -> io::Result<PathBuf> {
    let beside = || {
        let mut path = env::current_exe().ok()?;
        path.set_file_name(format!("groupwire{}", env::consts::EXE_SUFFIX));
        Some(path).filter(|path| path.is_file())
    };
    let found = named.or_else(beside).or_else(|| installed(&["groupwire"]));
    found.ok_or_else(|| {
        io::Error::other(
            "there is no program groupwire beside this one, nor on PATH: build it with \
             'cargo build --release', or name one",
        )
    })
}

/// Where the first of these programs is that is anywhere where programs are looked for.
pub(crate) fn installed(names: &[&str]) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let places: Vec<_> = env::split_paths(&path).collect();
    let mut candidates =
        names.iter().flat_map(|name| places.iter().map(move |place| place.join(name)));
    candidates.find(|one| one.is_file())
}
