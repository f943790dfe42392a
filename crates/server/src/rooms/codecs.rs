//! The codecs that a server may compress single messages with.

use std::sync::LazyLock;

use groupwire_session::codecs::{ALL, Codec};

use crate::error::Error;

/// A list of codecs, as [`Config::room`](crate::Config::room) has one.
pub type Codecs = &'static [&'static dyn Codec];

/// Codecs left out of [`quick_codecs`]: each costs the server far more CPU time per message than
/// the others, even for small messages.
const SLOW: [&str; 2] = ["bzip2", "lzma"];

static QUICK: LazyLock<Vec<&'static dyn Codec>> =
    LazyLock::new(|| ALL.iter().copied().filter(|codec| !SLOW.contains(&codec.name())).collect());

/// All codecs but `bzip2` and `lzma`, which any client could ask for. For an ordinary message
/// `bzip2` takes four times and `lzma` two times as long as the slowest of the other codecs, and
/// both take ten times as long as most.
pub fn quick_codecs() -> Codecs {
    &QUICK
}

/// Finds codecs by name; `all` means every codec. The list is never freed, so call this once, at
/// the start.
///
/// ```
/// let codecs = groupwire_server::codecs_named(["lz4", "zlib"])?;
/// assert_eq!(codecs.len(), 2);
/// # Ok::<(), groupwire_server::Error>(())
/// ```
///
/// # Errors
/// [`Error::Codec`] if no codec has one of the names.
pub fn codecs_named<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Codecs, Error> {
    let mut codecs = Vec::new();
    for name in names {
        match ALL.iter().find(|codec| codec.name() == name) {
            _ if name == "all" => return Ok(ALL),
            Some(codec) => codecs.push(*codec),
            None => {
                let known = ALL.iter().map(|codec| codec.name()).collect::<Vec<_>>().join(", ");
                return Err(Error::Codec { name: name.to_owned(), known });
            }
        }
    }
    codecs.sort_unstable_by_key(|codec| codec.number());
    codecs.dedup_by_key(|codec| codec.number());
    Ok(Vec::leak(codecs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codecs_are_found_by_name() {
        let names = |codecs: Codecs| codecs.iter().map(|codec| codec.name()).collect::<Vec<_>>();
        assert_eq!(names(codecs_named(["zlib", "lz4", "zlib"]).unwrap()), ["lz4", "zlib"]);
        assert_eq!(codecs_named(["all"]).unwrap().len(), ALL.len());
        let error = codecs_named(["zip"]).unwrap_err().to_string();
        assert!(
            error.contains("zip") && error.contains("zlib") && error.contains("all"),
            "{error}"
        );
        assert!(names(quick_codecs()).iter().all(|name| !SLOW.contains(name)));
    }
}
