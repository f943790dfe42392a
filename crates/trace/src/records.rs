//! Records of a little-endian u32 length and that many bytes.

use std::path::Path;

use super::Error;
use super::limits::{MAX_MESSAGE, MAX_MESSAGES};

/// Splits a file into its messages.
pub(super) fn parse(path: &Path, mut bytes: &[u8]) -> Result<Vec<Box<[u8]>>, Error> {
    let over = |what, found, limit| Error::Limit { path: path.to_owned(), what, found, limit };
    let mut records = Vec::new();
    while !bytes.is_empty() {
        let record = records.len() + 1;
        let cut = |wanted, found| Error::Truncated { path: path.to_owned(), record, wanted, found };
        let Some((length, rest)) = bytes.split_first_chunk() else {
            return Err(cut(4, bytes.len()));
        };
        let length = u32::from_le_bytes(*length) as usize;
        if length > MAX_MESSAGE {
            return Err(over("a record", length, MAX_MESSAGE));
        }
        let Some((message, rest)) = rest.split_at_checked(length) else {
            return Err(cut(length, rest.len()));
        };
        if record > MAX_MESSAGES {
            return Err(over("a number of records", record, MAX_MESSAGES));
        }
        records.push(message.into());
        bytes = rest;
    }
    Ok(records)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn write(records: &[Box<[u8]>]) -> Vec<u8> {
        let mut out = Vec::new();
        for record in records {
            out.extend((record.len() as u32).to_le_bytes());
            out.extend(record);
        }
        out
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(records: Vec<Box<[u8]>>) {
            let read = parse("x.bin".as_ref(), &write(&records)).unwrap();
            prop_assert_eq!(read, records);
        }

        #[test]
        fn what_was_cut_off_is_noticed(records: Vec<Box<[u8]>>, cut in 1usize..4) {
            prop_assume!(!records.is_empty());
            let bytes = write(&records);
            let parsed = parse("x.bin".as_ref(), &bytes[..bytes.len() - cut]);
            // Up to 3 bytes: 4 would be a whole record when the last one is empty.
            let truncated = matches!(parsed, Err(Error::Truncated { .. }));
            prop_assert!(truncated);
        }

        #[test]
        fn no_bytes_make_it_panic(bytes: Vec<u8>) {
            let _ = parse("x.bin".as_ref(), &bytes);
        }
    }

    #[test]
    fn a_length_over_the_limit_is_refused_before_memory_is_taken() {
        let error = parse("x.bin".as_ref(), &[0xff; 8]).unwrap_err();
        assert!(matches!(error, Error::Limit { what: "a record", .. }), "{error}");
    }
}
