//! What may happen to a message before a codec sees it (paper LMC, section 5.3).

use alloc::vec::Vec;

use crate::CodecError;

/// A change that can be undone and makes some messages easier to compress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Filter {
    /// None.
    #[default]
    None,
    /// Each octet less the one before it.
    Delta1,
}

impl Filter {
    /// Every filter, in the order of their numbers.
    pub const ALL: &'static [Filter] = &[Filter::None, Filter::Delta1];

    /// The filter's name.
    pub fn name(self) -> &'static str {
        match self {
            Filter::None => "none",
            Filter::Delta1 => "delta1",
        }
    }

    /// The filter's number on the wire, below 8.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// The filter with this number on the wire.
    pub fn by_number(number: u8) -> Option<Self> {
        Filter::ALL.get(usize::from(number)).copied()
    }

    /// Appends the changed form of `message` to `out`.
    pub(crate) fn apply(self, message: &[u8], out: &mut Vec<u8>) {
        let mut last = 0;
        out.extend(message.iter().map(|&octet| match self {
            Filter::None => octet,
            Filter::Delta1 => octet.wrapping_sub(core::mem::replace(&mut last, octet)),
        }));
    }

    /// The most octets that the changed form of a message of `limit` octets has.
    pub(crate) fn longest(self, limit: usize) -> usize {
        limit
    }

    /// Appends the message to `out`, at most `limit` octets. On an error `out` is as it was.
    pub(crate) fn undo(
        self,
        changed: &[u8],
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), CodecError> {
        if changed.len() > limit {
            return Err(CodecError::TooLarge);
        }
        let mut last = 0u8;
        out.extend(changed.iter().map(|&octet| match self {
            Filter::None => octet,
            Filter::Delta1 => {
                last = last.wrapping_add(octet);
                last
            }
        }));
        Ok(())
    }
}
