//! Reads ZIP files, in which some corpora are distributed.

use std::io::Read;

use flate2::read::DeflateDecoder;

/// The first file of a ZIP archive (APPNOTE.TXT, section 4.3.7), if it is deflated; at most `most`
/// bytes of it.
pub(crate) fn unzip(archive: &[u8], most: u64) -> Option<Vec<u8>> {
    const DEFLATED: &[u8] = &[8, 0];
    let header: &[u8; 30] = archive.first_chunk()?;
    if !header.starts_with(b"PK\x03\x04") || &header[8..10] != DEFLATED {
        return None;
    }
    let length = |at: usize| usize::from(u16::from_le_bytes([header[at], header[at + 1]]));
    let content = archive.get(header.len() + length(26) + length(28)..)?;
    let mut bytes = Vec::new();
    DeflateDecoder::new(content).take(most).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::DeflateEncoder;

    use super::*;

    #[test]
    fn what_a_zip_file_holds_is_unpacked() {
        let mut archive = b"PK\x03\x04\x14\0\0\0\x08\0................\x03\0\x02\0abcxx".to_vec();
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(b"hello hello hello").unwrap();
        archive.extend(encoder.finish().unwrap());
        archive.extend(b"PK\x01\x02");
        assert_eq!(unzip(&archive, 1000).as_deref(), Some(&b"hello hello hello"[..]));
        assert_eq!(unzip(&archive[..20], 1000), None);
        assert_eq!(unzip(b"not an archive, but long enough to be one", 1000), None);
        assert_eq!(unzip(&archive, 5).as_deref(), Some(&b"hello"[..]));
    }
}
