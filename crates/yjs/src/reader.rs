//! Reads lib0's encoding: numbers in groups of seven bits, and texts and bytes with their lengths
//! before them.

use crate::error::Error;

/// The largest number that JavaScript represents exactly.
pub const MAX_NUMBER: u64 = (1 << 53) - 1;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8], at: usize) -> Self {
        Reader { bytes, at }
    }

    /// The place of the next byte.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// The bytes from `start` up to here.
    pub(crate) fn since(&self, start: usize) -> &'a [u8] {
        self.bytes.get(start..self.at).unwrap_or_default()
    }

    pub(crate) fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    pub(crate) fn byte(&mut self) -> Result<u8, Error> {
        let byte = *self.bytes.get(self.at).ok_or(Error::TooShort { at: self.at })?;
        self.at += 1;
        Ok(byte)
    }

    pub(crate) fn take(&mut self, length: u64) -> Result<&'a [u8], Error> {
        let short = Error::TooShort { at: self.bytes.len() };
        if length > self.left() as u64 {
            return Err(short);
        }
        let end = self.at + length as usize;
        let taken = self.bytes.get(self.at..end).ok_or(short)?;
        self.at = end;
        Ok(taken)
    }

    /// A number of at most 53 bits.
    pub(crate) fn number(&mut self) -> Result<u64, Error> {
        let start = self.at;
        let mut number = 0_u64;
        for shift in (0..56).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return if number <= MAX_NUMBER {
                    Ok(number)
                } else {
                    Err(Error::TooBig { at: start })
                };
            }
        }
        Err(Error::TooBig { at: start })
    }

    /// Skips a number with a sign.
    pub(crate) fn integer(&mut self) -> Result<(), Error> {
        let start = self.at;
        let first = self.byte()?;
        let mut number = u64::from(first & 0x3f);
        let mut more = first >= 0x80;
        let mut shift = 6;
        while more {
            let byte = self.byte()?;
            if shift > 55 {
                return Err(Error::TooBig { at: start });
            }
            number |= u64::from(byte & 0x7f) << shift;
            more = byte >= 0x80;
            shift += 7;
        }
        if number <= MAX_NUMBER { Ok(()) } else { Err(Error::TooBig { at: start }) }
    }

    /// The number of values that follow, each of which has at least one byte.
    pub(crate) fn count(&mut self) -> Result<u64, Error> {
        let count = self.number()?;
        if count > self.left() as u64 {
            return Err(Error::TooShort { at: self.bytes.len() });
        }
        Ok(count)
    }

    pub(crate) fn blob(&mut self) -> Result<&'a [u8], Error> {
        let length = self.number()?;
        self.take(length)
    }

    pub(crate) fn text(&mut self) -> Result<&'a str, Error> {
        let at = self.at;
        core::str::from_utf8(self.blob()?).map_err(|_| Error::Malformed { what: "a text", at })
    }

    /// A client and a clock.
    pub(crate) fn id(&mut self) -> Result<Id, Error> {
        Ok(Id { client: self.number()?, clock: self.number()? })
    }
}

/// The name of a character, an element or another part of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Id {
    pub(crate) client: u64,
    pub(crate) clock: u64,
}
