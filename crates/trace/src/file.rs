//! Files, packed or not, of bounded size.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use super::Error;
use super::limits::MAX_FILE;

/// What a file is by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Records,
    Pointer,
}

/// The name up to its extension, and what that says.
pub(super) fn kind(path: &Path) -> Option<(&str, Kind)> {
    let name = path.file_name()?.to_str()?;
    let (stem, extension) = name.strip_suffix(".gz").unwrap_or(name).rsplit_once('.')?;
    match extension {
        "bin" => Some((stem, Kind::Records)),
        "csv" => Some((stem, Kind::Pointer)),
        _ => None,
    }
}

/// All of a file, unpacked if its name ends in .gz.
pub fn read(path: &Path) -> Result<Vec<u8>, Error> {
    let failed = |source| Error::Read { path: path.to_owned(), source };
    let file = BufReader::new(File::open(path).map_err(failed)?);
    let mut bytes = Vec::new();
    // One byte above the limit is read, so that a larger file is noticed.
    let most = MAX_FILE as u64 + 1;
    if path.extension().is_some_and(|extension| extension == "gz") {
        MultiGzDecoder::new(file).take(most).read_to_end(&mut bytes)
    } else {
        file.take(most).read_to_end(&mut bytes)
    }
    .map_err(failed)?;
    if bytes.len() > MAX_FILE {
        let (what, found, limit) = ("a size", bytes.len(), MAX_FILE);
        return Err(Error::Limit { path: path.to_owned(), what, found, limit });
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_is_inside() {
        assert_eq!(kind("a/json.bin.gz".as_ref()), Some(("json", Kind::Records)));
        assert_eq!(kind("x.y.bin".as_ref()), Some(("x.y", Kind::Records)));
        assert_eq!(kind("user1.csv.gz".as_ref()), Some(("user1", Kind::Pointer)));
        for other in ["json", "bin", ".gz", "a.gz", "a.json", "a.bin/"] {
            let found = kind(other.as_ref());
            assert!(found.is_none() || other.ends_with('/'), "{other}: {found:?}");
        }
    }
}
