//! Acknowledgements as bytes, by the grammar in [`super`].
//!
//! With an acknowledgement a decoder promises to learn certain packets, and no others, up to the
//! newest of them, the top. The model that has learned these packets is an epoch, under which the
//! encoder may then code; it names the epoch in its packets.

use alloc::vec::Vec;

use crate::error::AckError;
use crate::packet_number::{PacketNumber, first_from, nearest};

/// The index of an acknowledgement. Those that promise something are counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct AckIndex(u32);

impl AckIndex {
    pub(crate) const fn new(index: u32) -> Self {
        Self(index)
    }

    /// The index that comes `count` acknowledgements later.
    pub(crate) fn ahead(self, count: u32) -> Self {
        Self(self.0.wrapping_add(count))
    }

    /// The low `bits` bits of the index.
    pub(crate) fn low(self, bits: u32) -> u32 {
        self.0 & ((1 << bits) - 1)
    }

    /// The low byte of the index. Acknowledgements carry only this byte.
    pub(crate) fn low_byte(self) -> u8 {
        self.0 as u8
    }

    /// The first index, not before `back` acknowledgements ago, whose low `bits` bits are `low`.
    pub(crate) fn first_from(self, back: u32, low: u32, bits: u32) -> Self {
        Self(first_from(self.0.wrapping_sub(back), low, bits))
    }

    /// The index nearest to this one whose low `bits` bits are `low`.
    pub(crate) fn nearest(self, low: u32, bits: u32) -> Self {
        Self(nearest(self.0, low, bits))
    }
}

/// The content of an acknowledgement: the packets that the decoder promises to learn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Acknowledgement {
    /// The low byte of the acknowledgement's index.
    pub(crate) index: u8,
    /// The low 16 bits of the number of the top, the newest promised packet.
    pub(crate) top: u16,
    /// Sixteen bits of the hash of all that the decoder will have learned when it has learned the
    /// top.
    pub(crate) seal: u16,
    /// The number of packets from the newest epoch that a packet has named to the top.
    pub(crate) distance: u32,
    /// Run lengths, starting after that epoch: how many packets in a row arrived, then how many
    /// were lost, then how many arrived, and so on. The last run, of packets that arrived, is left
    /// out.
    pub(crate) runs: Vec<u32>,
}

/// The most packets that one acknowledgement can span.
pub(crate) const DISTANCE_MAX: u32 = 1024;
/// The most runs in an acknowledgement.
pub(crate) const RUNS_MAX: usize = 64;
/// Bytes of the largest acknowledgement: [`RUNS_MAX`] runs, most of them of one byte, and the
/// numbers before the runs.
const BYTES_MAX: usize = 140;

/// The bytes of the acknowledgement of a decoder that has learned nothing and lacks the epoch of
/// the encoder's packets.
pub(crate) const NOTHING: [u8; 1] = [0];

impl Acknowledgement {
    /// Reads an acknowledgement. `None` stands for [`NOTHING`].
    pub(crate) fn read(bytes: &[u8]) -> Result<Option<Self>, AckError> {
        if bytes == NOTHING {
            return Ok(None);
        }
        let (&[index, a, b, c, d], mut rest) =
            bytes.split_first_chunk().ok_or(AckError::Malformed)?;
        let distance = read_varint(&mut rest)?;
        if distance > DISTANCE_MAX {
            return Err(AckError::Malformed);
        }
        let mut runs = Vec::new();
        let mut left = distance;
        while !rest.is_empty() {
            let run = read_varint(&mut rest)?;
            // Only the first run may be empty.
            if run >= left || (run == 0 && !runs.is_empty()) || runs.len() == RUNS_MAX {
                return Err(AckError::Malformed);
            }
            left -= run;
            runs.push(run);
        }
        // The top arrived, so the run that is left out is one of packets that arrived. An even
        // number of runs remains.
        if runs.len() % 2 == 1 {
            return Err(AckError::Malformed);
        }
        Ok(Some(Self {
            index,
            top: u16::from_le_bytes([a, b]),
            seal: u16::from_le_bytes([c, d]),
            distance,
            runs,
        }))
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.push(self.index);
        out.extend_from_slice(&self.top.to_le_bytes());
        out.extend_from_slice(&self.seal.to_le_bytes());
        write_varint(self.distance, out);
        for &run in &self.runs {
            write_varint(run, out);
        }
        debug_assert!(
            self.runs.len() > RUNS_MAX || out.len() - start <= BYTES_MAX,
            "an acknowledgement is small"
        );
    }

    /// The numbers of the packets that came after the newest named epoch, given the top's number.
    pub(crate) fn numbers(&self, top: PacketNumber) -> impl Iterator<Item = PacketNumber> + '_ {
        let rest = self.distance - self.runs.iter().sum::<u32>();
        let runs = self.runs.iter().copied().chain([rest]);
        let mut next = top.minus(self.distance);
        runs.enumerate().flat_map(move |(index, run)| {
            let first = next;
            next = next.plus(run);
            let came = if index % 2 == 0 { run } else { 0 };
            (1..=came).map(move |ahead| first.plus(ahead))
        })
    }
}

fn write_varint(mut number: u32, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Reads a number below 2^14.
fn read_varint(bytes: &mut &[u8]) -> Result<u32, AckError> {
    let (&low, rest) = bytes.split_first().ok_or(AckError::Malformed)?;
    *bytes = rest;
    if low < 0x80 {
        return Ok(u32::from(low));
    }
    let (&high, rest) = rest.split_first().ok_or(AckError::Malformed)?;
    *bytes = rest;
    match high {
        1..0x80 => Ok(u32::from(low & 0x7f) | u32::from(high) << 7),
        _ => Err(AckError::Malformed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;
    use proptest::collection::{btree_set, vec};
    use proptest::prelude::*;

    /// The runs of a set of packets after `base`.
    fn acknowledgement(base: u32, came: &BTreeSet<u32>) -> (PacketNumber, Acknowledgement) {
        let distance = came.last().copied().unwrap_or(0);
        let mut runs = Vec::new();
        let mut last = true;
        let mut run = 0;
        for ahead in 1..=distance {
            let this = came.contains(&ahead);
            if this != last {
                runs.push(run);
                run = 0;
                last = this;
            }
            run += 1;
        }
        let top = base.wrapping_add(distance);
        let ack = Acknowledgement { index: 9, top: top as u16, seal: 77, distance, runs };
        (PacketNumber::new(top), ack)
    }

    proptest! {
        #[test]
        fn round_trip(base: u32, came in btree_set(1u32..200, 0..60)) {
            let (top, given) = acknowledgement(base, &came);
            let mut bytes = Vec::new();
            given.write(&mut bytes);
            prop_assert!(bytes.len() <= BYTES_MAX);
            if given.runs.len() <= RUNS_MAX {
                let read = Acknowledgement::read(&bytes).unwrap().unwrap();
                prop_assert_eq!(&read, &given);
                let numbers: Vec<u32> = read.numbers(top).map(PacketNumber::get).collect();
                let expected: Vec<u32> = came.iter().map(|ahead| base.wrapping_add(*ahead)).collect();
                prop_assert_eq!(numbers, expected);
            }
        }

        #[test]
        fn any_bytes(bytes in vec(any::<u8>(), 0..40), top: u32) {
            if let Ok(Some(read)) = Acknowledgement::read(&bytes) {
                prop_assert!(read.numbers(PacketNumber::new(top)).count() <= DISTANCE_MAX as usize);
                let mut again = Vec::new();
                read.write(&mut again);
                prop_assert_eq!(again, bytes);
            }
        }
    }
}
