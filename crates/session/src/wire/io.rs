//! Reads and writes the basic types of the wire format: integers, varints, byte strings and text
//! (wire W1 to W3).

use alloc::vec::Vec;

use crate::Error;

/// Reads basic types from the beginning of a byte slice. If bytes are missing, the error is
/// [`Error::Malformed`].
#[derive(Debug, Clone)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    what: &'static str,
}

impl<'a> Reader<'a> {
    /// Creates a reader of `bytes`. Errors contain `what`, the name of the structure that is read.
    pub(crate) fn new(bytes: &'a [u8], what: &'static str) -> Self {
        Reader { bytes, what }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The number of bytes that were not read yet.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn malformed(&self) -> Error {
        Error::malformed(self.what)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Error> {
        let (&first, rest) = self.bytes.split_first().ok_or_else(|| self.malformed())?;
        self.bytes = rest;
        Ok(first)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let (head, rest) = self.bytes.split_first_chunk::<N>().ok_or_else(|| self.malformed())?;
        self.bytes = rest;
        Ok(*head)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Error> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// Reads a varint. Only its shortest form, of at most ten bytes, is accepted (wire W1).
    pub(crate) fn varint(&mut self) -> Result<u64, Error> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.u8()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                return Err(self.malformed());
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                let padded = byte == 0 && shift > 0;
                return if padded { Err(self.malformed()) } else { Ok(value) };
            }
        }
        Err(self.malformed())
    }

    pub(crate) fn varint_u32(&mut self) -> Result<u32, Error> {
        u32::try_from(self.varint()?).map_err(|_| self.malformed())
    }

    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], Error> {
        if count > self.bytes.len() {
            return Err(self.malformed());
        }
        let (head, rest) = self.bytes.split_at(count);
        self.bytes = rest;
        Ok(head)
    }

    /// Reads a length and then that number of bytes. Fails if the length is above `limit`; the
    /// error calls the bytes `what`.
    pub(crate) fn bytes(&mut self, limit: usize, what: &'static str) -> Result<&'a [u8], Error> {
        let size = self.varint()?;
        self.sized(size, limit, what)
    }

    /// Reads `size` bytes. Fails if `size` is above `limit`; the error calls the bytes `what`.
    pub(crate) fn sized(
        &mut self,
        size: u64,
        limit: usize,
        what: &'static str,
    ) -> Result<&'a [u8], Error> {
        let size = usize::try_from(size).map_err(|_| self.malformed())?;
        if size > limit {
            return Err(Error::TooLarge { what, size, limit });
        }
        self.take(size)
    }

    /// Reads a length and then that number of bytes, which must be UTF-8 (wire W2). Fails if the
    /// length is above `limit`.
    pub(crate) fn text(&mut self, limit: usize, what: &'static str) -> Result<&'a str, Error> {
        let bytes = self.bytes(limit, what)?;
        core::str::from_utf8(bytes).map_err(|_| Error::InvalidText { what })
    }

    pub(crate) fn rest(&mut self) -> &'a [u8] {
        core::mem::take(&mut self.bytes)
    }

    /// Checks that all bytes were read (wire W3).
    pub(crate) fn finish(&self) -> Result<(), Error> {
        if self.bytes.is_empty() { Ok(()) } else { Err(self.malformed()) }
    }
}

/// Appends basic types to a vector.
pub(crate) trait Write {
    fn u8(&mut self, value: u8);
    /// Appends eight bytes, the lowest first.
    fn u64(&mut self, value: u64);
    /// Appends a varint: seven bits in each byte, the lowest first (wire W1).
    fn varint(&mut self, value: u64);
    /// Appends the length of `value` as a varint, then `value`.
    fn bytes(&mut self, value: &[u8]);
}

impl Write for Vec<u8> {
    fn u8(&mut self, value: u8) {
        self.push(value);
    }

    fn u64(&mut self, value: u64) {
        self.extend_from_slice(&value.to_le_bytes());
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.push(value as u8);
    }

    fn bytes(&mut self, value: &[u8]) {
        self.varint(value.len() as u64);
        self.extend_from_slice(value);
    }
}

/// Returns the beginning of `text`: at most `limit` bytes, cut between two characters.
pub(crate) fn clip(text: &str, limit: usize) -> &str {
    let mut end = text.len().min(limit);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    // `get` and not `text[..end]`: the code that prints the panic message of `[]` would make the
    // binary larger.
    text.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn w1_varints_round_trip(value: u64) {
            let mut out = Vec::new();
            out.varint(value);
            prop_assert!(out.len() <= 10);
            let mut reader = Reader::new(&out, "test");
            prop_assert_eq!(reader.varint(), Ok(value));
            prop_assert!(reader.finish().is_ok());
        }

        #[test]
        fn w1_each_value_has_only_one_varint(bytes: Vec<u8>) {
            let mut reader = Reader::new(&bytes, "test");
            if let Ok(value) = reader.varint() {
                let mut out = Vec::new();
                out.varint(value);
                prop_assert_eq!(out.as_slice(), &bytes[..out.len()]);
            }
        }
    }

    #[test]
    fn w1_padding_and_overflow_are_malformed() {
        for bytes in [&[0x80, 0x00][..], &[0xff; 10], &[0xff, 0xff], &[]] {
            assert_eq!(Reader::new(bytes, "test").varint(), Err(Error::malformed("test")));
        }
    }

    #[test]
    fn w2_text_must_be_utf8() {
        let error = Reader::new(&[2, 0xff, 0xfe], "test").text(10, "name");
        assert_eq!(error, Err(Error::InvalidText { what: "name" }));
    }
}
