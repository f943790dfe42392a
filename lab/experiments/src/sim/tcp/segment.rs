//! Segments, as long as real ones.

use std::ops::Range;

/// Bytes of TCP's header with timestamps, as Linux sends it. Without options it is 20.
const HEADER: usize = 32;
/// Bytes of the SACK option with its padding, and of each block in it.
const SACK_OPTION: usize = 4;
const SACK_BLOCK: usize = 8;
/// Blocks that fit beside timestamps.
pub(super) const MAX_SACKS: usize = 3;

/// The fields of a segment. Sequence numbers have 64 bits, so that they need not wrap.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Segment<'a> {
    /// The port: it names one of the connections between two nodes.
    pub(super) port: u32,
    pub(super) seq: u64,
    pub(super) ack: u64,
    /// Ranges that arrived beyond `ack`, the newest first.
    pub(super) sacks: Vec<Range<u64>>,
    pub(super) data: &'a [u8],
}

impl<'a> Segment<'a> {
    /// The header has the length of a real one: 32 bytes, and 4 and 8 for each block when there are
    /// any.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&[0; 8]);
        out.extend_from_slice(&self.seq.to_le_bytes());
        out.extend_from_slice(&self.ack.to_le_bytes());
        out.extend_from_slice(&self.port.to_le_bytes());
        out.push(self.sacks.len() as u8);
        out.resize(start + HEADER, 0);
        if !self.sacks.is_empty() {
            out.extend_from_slice(&[0; SACK_OPTION]);
        }
        for block in &self.sacks {
            out.extend_from_slice(&((block.start - self.ack) as u32).to_le_bytes());
            out.extend_from_slice(&((block.end - self.ack) as u32).to_le_bytes());
        }
        out.extend_from_slice(self.data);
        let sum = checksum(&out[start + 8..]);
        out[start..start + 8].copy_from_slice(&sum.to_le_bytes());
    }

    /// Parses a segment; `None` if it was damaged on the way.
    pub(super) fn read(packet: &'a [u8]) -> Option<Self> {
        let (sum, rest) = packet.split_first_chunk()?;
        if u64::from_le_bytes(*sum) != checksum(rest) {
            return None;
        }
        let (seq, rest) = rest.split_first_chunk()?;
        let (ack, rest) = rest.split_first_chunk()?;
        let (port, rest) = rest.split_first_chunk()?;
        let count = usize::from(*rest.first()?);
        let ack = u64::from_le_bytes(*ack);
        let option = if count == 0 { 0 } else { SACK_OPTION + count * SACK_BLOCK };
        let (header, data) = packet.split_at_checked(HEADER + option)?;
        let blocks = header.get(HEADER + SACK_OPTION..).unwrap_or_default();
        let edge = |bytes: &[u8]| {
            ack + bytes.iter().rev().fold(0, |edge, byte| edge << 8 | u64::from(*byte))
        };
        let sacks = blocks.chunks_exact(SACK_BLOCK).map(|block| {
            let (start, end) = block.split_at(SACK_BLOCK / 2);
            edge(start)..edge(end)
        });
        let (port, seq) = (u32::from_le_bytes(*port), u64::from_le_bytes(*seq));
        Some(Segment { port, seq, ack, sacks: sacks.collect(), data })
    }
}

/// A checksum (FNV-1a). It is stronger than TCP's, because an error that it let through would be an
/// error of the simulation.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3)
    })
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "these are lists of blocks")]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_as_long_as_tcps() {
        let mut segment = Segment { port: 9, seq: 1 << 40, ack: 77, sacks: vec![], data: b"hello" };
        for (sacks, header) in [(vec![], 32), (vec![80..90], 44), (vec![100..120, 80..90], 52)] {
            segment.sacks = sacks;
            let mut packet = Vec::new();
            segment.write(&mut packet);
            assert_eq!(packet.len(), header + 5);
            assert_eq!(Segment::read(&packet), Some(segment.clone()));
            for bit in 0..packet.len() * 8 {
                packet[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(Segment::read(&packet), None);
                packet[bit / 8] ^= 1 << (bit % 8);
            }
            assert_eq!(Segment::read(&packet[..packet.len() - 1]), None);
        }
        assert_eq!(Segment::read(&[]), None);
    }
}
