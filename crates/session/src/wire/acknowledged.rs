//! What a receiver says of a class's datagrams (wire.md W72).

use alloc::vec::Vec;

use super::io::{Reader, Write};
use crate::Error;

/// Packets that are told apart: as many as gmc's decoder remembers.
const TOLD: u32 = u128::BITS;

/// The payload of an ACKNOWLEDGED frame behind the class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Acknowledged<'a> {
    /// The newest packet that came.
    pub(crate) newest: u32,
    /// Which before it did not: bit `k` stands for the one `k + 1` before.
    lacking: u128,
    /// gmc's acknowledgement: up to where nothing is missing.
    pub(crate) gmc: &'a [u8],
}

impl<'a> Acknowledged<'a> {
    /// `came`: bit `k` stands for the packet `k` before the newest.
    pub(crate) fn new(newest: u32, came: u128, gmc: &'a [u8]) -> Self {
        // What is before the first that can be told counts as having come.
        let lacking = !(came >> 1) & (u128::MAX >> 1);
        Acknowledged { newest, lacking, gmc }
    }

    /// Whether a packet did not come that is not newer than the newest.
    pub(crate) fn lacks(&self, number: u32) -> bool {
        let before = self.newest.wrapping_sub(number);
        (1..TOLD).contains(&before) && self.lacking >> (before - 1) & 1 == 1
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let octets = self.lacking.to_le_bytes();
        let used = octets.iter().rposition(|&octet| octet != 0).map_or(0, |last| last + 1);
        out.varint(u64::from(self.newest));
        out.bytes(&octets[..used]);
        out.extend_from_slice(self.gmc);
    }

    pub(crate) fn read(bytes: &'a [u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(bytes, "ACKNOWLEDGED");
        let newest = reader.varint_u32()?;
        let given = reader.bytes(size_of::<u128>(), "ACKNOWLEDGED")?;
        let mut octets = [0; size_of::<u128>()];
        octets[..given.len()].copy_from_slice(given);
        let lacking = u128::from_le_bytes(octets);
        Ok(Acknowledged { newest, lacking, gmc: reader.rest() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn w72_round_trip(newest: u32, came: u128, gmc: Vec<u8>) {
            let given = Acknowledged::new(newest, came, &gmc);
            let mut bytes = Vec::new();
            given.write(&mut bytes);
            let read = Acknowledged::read(&bytes).unwrap();
            prop_assert_eq!(read, given);
            for before in 1..128 {
                prop_assert_eq!(read.lacks(newest.wrapping_sub(before)), came >> before & 1 == 0);
            }
            prop_assert!(!read.lacks(newest) && !read.lacks(newest.wrapping_sub(128)));
        }

        #[test]
        fn random_octets_never_panic(bytes: Vec<u8>, number: u32) {
            if let Ok(read) = Acknowledged::read(&bytes) {
                read.lacks(number);
            }
        }
    }

    #[test]
    fn w72_when_nothing_is_missing_it_is_short() {
        let mut bytes = Vec::new();
        Acknowledged::new(300, u128::MAX, b"12345").write(&mut bytes);
        assert_eq!(bytes.len(), 2 + 1 + 5);
    }
}
