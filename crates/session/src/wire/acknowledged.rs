//! The ACKNOWLEDGED frame: a receiver tells which datagrams of a fan-out group arrived (wire W72).

use alloc::vec::Vec;

use super::io::{Reader, Write};
use crate::Error;

/// The number of packets that an acknowledgement describes, including the newest. gmc's decoder
/// remembers the same number.
const TOLD: u32 = u128::BITS;

/// The contents of an ACKNOWLEDGED frame, after the number of the group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Acknowledged<'a> {
    /// The number of the newest packet that arrived.
    pub(crate) newest: u32,
    /// A bit set of missing packets: bit `k` is set if packet `newest - 1 - k` did not arrive.
    lacking: u128,
    /// The acknowledgement in gmc's own format. It names the packet up to which all packets
    /// arrived.
    pub(crate) gmc: &'a [u8],
}

impl<'a> Acknowledged<'a> {
    /// `came` is a bit set: bit `k` is set if packet `newest - k` arrived.
    pub(crate) fn new(newest: u32, came: u128, gmc: &'a [u8]) -> Self {
        // `came` ends 127 packets before `newest`. Older packets count as arrived.
        let lacking = !(came >> 1) & (u128::MAX >> 1);
        Acknowledged { newest, lacking, gmc }
    }

    /// True if this acknowledgement says that packet `number` is missing. False for packets after
    /// `newest`, and for packets that are too old to be described.
    pub(crate) fn lacks(&self, number: u32) -> bool {
        let before = self.newest.wrapping_sub(number);
        (1..TOLD).contains(&before) && self.lacking >> (before - 1) & 1 == 1
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let bits = self.lacking.to_le_bytes();
        let used = bits.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        out.varint(u64::from(self.newest));
        out.bytes(&bits[..used]);
        out.extend_from_slice(self.gmc);
    }

    pub(crate) fn read(bytes: &'a [u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(bytes, "ACKNOWLEDGED");
        let newest = reader.varint_u32()?;
        let given = reader.bytes(size_of::<u128>(), "ACKNOWLEDGED")?;
        let mut bits = [0; size_of::<u128>()];
        bits[..given.len()].copy_from_slice(given);
        let lacking = u128::from_le_bytes(bits);
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
        fn random_bytes_never_panic(bytes: Vec<u8>, number: u32) {
            if let Ok(read) = Acknowledged::read(&bytes) {
                read.lacks(number);
            }
        }
    }

    #[test]
    fn w72_an_acknowledgement_without_missing_packets_is_short() {
        let mut bytes = Vec::new();
        Acknowledged::new(300, u128::MAX, b"12345").write(&mut bytes);
        assert_eq!(bytes.len(), 2 + 1 + 5);
    }
}
